// The filter bar: submits on every change and offers filter values in place. Without this script, it is a form with a button and links.

document.documentElement.classList.add('scripted');

for (const form of document.querySelectorAll('[data-submit-on-change]')) {
  const period = form.elements.period;
  const isCustom = () => period?.value === period?.dataset.custom;
  // Whoever moves through a list with the arrow keys has not chosen yet: the Enter key, the button or leaving the list does.
  let byKey = false;
  form.addEventListener('pointerdown', () => {
    byKey = false;
  });
  form.addEventListener('keydown', ({ key, target }) => {
    if (target.tagName !== 'SELECT') return;
    if (key === 'Enter' && 'pending' in form.dataset) form.requestSubmit();
    byKey = key !== 'Tab';
  });
  form.addEventListener('focusout', ({ target }) => {
    if (target.tagName === 'SELECT' && 'pending' in form.dataset && !isCustom()) form.requestSubmit();
  });
  form.addEventListener('change', ({ target }) => {
    // The button submits dates, because after changing only one of them the period is not complete.
    if (target.type === 'date') return;
    if (target === period && isCustom()) form.elements.from.focus();
    else if (byKey) form.dataset.pending = '';
    else form.requestSubmit();
  });
  const leaveOut = (field) => {
    if (!field || field.disabled) return;
    field.disabled = true;
    field.dataset.leftOut = '';
  };
  form.addEventListener('submit', () => {
    // A comparison that the page would not make does not belong in its URL.
    if (period?.value === period?.dataset.uncompared) leaveOut(form.elements.compare);
    if (!isCustom()) for (const name of ['from', 'to']) leaveOut(form.elements[name]);
    for (const field of form.elements) if (field.name && field.value === '') leaveOut(field);
    document.querySelector('main')?.setAttribute('aria-busy', 'true');
  });
  // A page from the history may have the submitted values in its form: reset it to the view that the page shows.
  addEventListener('pageshow', () => {
    delete form.dataset.pending;
    document.querySelector('main')?.removeAttribute('aria-busy');
    for (const field of form.querySelectorAll('[data-left-out]')) field.disabled = false;
    form.reset();
  });
}

let asked = 0;

/** Shows the values of a filter in its menu, as listed by the page behind the link. */
async function showValues(menu, address) {
  const mine = ++asked;
  const answer = await fetch(address).catch(() => null);
  // A newer search has replaced this one.
  if (mine !== asked) return;
  if (!answer?.ok || answer.redirected) {
    location.href = address;
    return;
  }
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const values = page.getElementById('filter-values');
  const shown = menu.querySelector('#filter-values');
  if (shown) {
    const form = shown.querySelector('form');
    values.querySelector('form').remove();
    shown.replaceChildren(form, ...values.childNodes);
    return;
  }
  menu.querySelector(':scope > :not(summary)').replaceWith(values);
  values.querySelector('input[type="search"]').focus();
}

for (const menu of document.querySelectorAll('[data-filter-menu]')) {
  const list = menu.querySelector(':scope > ul');
  let waiting = 0;
  menu.addEventListener('click', (event) => {
    const link = event.target.closest('[data-filter-values]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    void showValues(menu, link.href);
  });
  menu.addEventListener('input', ({ target }) => {
    const form = target.closest('[data-search-values]');
    if (!form) return;
    clearTimeout(waiting);
    const address = () => `${form.action}?${new URLSearchParams(new FormData(form))}`;
    waiting = setTimeout(() => void showValues(menu, address()), 250);
  });
  menu.addEventListener('toggle', () => {
    asked += 1;
    if (!menu.open) menu.querySelector(':scope > :not(summary)').replaceWith(list);
  });
  menu.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !menu.open) return;
    menu.open = false;
    menu.querySelector('summary').focus();
  });
  document.addEventListener('click', (event) => {
    if (menu.open && !event.composedPath().includes(menu)) menu.open = false;
  });
}
