// The frame of every page: menus, the search key, the narrow navigation, and what survives a reload: place, focus and text.

const menus = document.querySelectorAll('details[data-pop]');

/** A menu within another one leaves it open. */
const close = (except) => {
  for (const menu of menus) if (menu.open && !menu.contains(except)) menu.open = false;
};

document.addEventListener('click', ({ target }) => close(target));
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') {
    const menu = event.target.closest?.('details[data-pop][open]');
    if (menu) menu.querySelector('summary').focus();
    close(null);
  }
  const isTyping = event.target.closest?.('input, select, textarea, [contenteditable]');
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  const search = document.querySelector('input[type="search"][data-main]');
  const link = document.querySelector('a[data-search]');
  if (!search && !link) return;
  event.preventDefault();
  if (search) search.focus();
  else location.href = link.href;
});

// On a phone, the tabs are wider than the page. `scrollIntoView` would also move the Tab key there, past all that comes before.
const tab = document.querySelector('.tabs a[aria-current]');
const tabs = tab?.closest('.tabs');
if (tabs) tabs.scrollLeft += tab.getBoundingClientRect().right - tabs.getBoundingClientRect().right;

for (const button of document.querySelectorAll('[data-rail]')) {
  button.addEventListener('click', () => {
    const isNarrow = document.body.classList.toggle('narrow-nav');
    button.setAttribute('aria-pressed', String(isNarrow));
    const value = isNarrow ? 'narrow' : 'wide';
    // biome-ignore lint/suspicious/noDocumentCookie: not every browser has the Cookie Store API
    document.cookie = `dashboard.navigation=${value}; Path=/; Max-Age=31536000; SameSite=Lax`;
  });
}

// After a change of the view, the page is where it was, and so is the focus.

const KEPT = 'dashboard.kept';
const read = (key) => {
  const text = sessionStorage.getItem(key);
  sessionStorage.removeItem(key);
  return text === null ? null : JSON.parse(text);
};
const keep = (element) =>
  sessionStorage.setItem(
    KEPT,
    JSON.stringify({
      path: location.pathname,
      y: scrollY,
      id: element?.id ?? '',
      text: element?.matches('a') ? element.textContent : '',
    }),
  );

document.addEventListener('click', (event) => {
  const link = event.target.closest('a[data-keep-scroll]');
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) keep(link);
});
document.addEventListener('submit', ({ target }) => {
  if ('submitOnChange' in target.dataset) keep(document.activeElement);
});

const kept = read(KEPT);
if (kept?.path === location.pathname) {
  scrollTo(0, kept.y);
  const links = [...document.querySelectorAll('a[data-keep-scroll]')];
  const focused = kept.id
    ? document.getElementById(kept.id)
    : links.find(({ textContent }) => kept.text !== '' && textContent === kept.text);
  focused?.focus({ preventScroll: true });
}

// What was typed into a form whose session had ended is filled in again after signing in.

const TYPED = 'dashboard.typed';
const isTypedText = ({ name, type }) => name && !['password', 'hidden', 'file', 'submit'].includes(type);

document.addEventListener('submit', ({ target }) => {
  if (target.method !== 'post' || location.pathname.startsWith('/login')) return;
  const values = [...target.elements]
    .filter(isTypedText)
    .map(({ name, type, value, checked }) => ({ name, value: type === 'checkbox' ? checked : value }));
  const action = target.getAttribute('action');
  sessionStorage.setItem(TYPED, JSON.stringify({ path: location.pathname, action, values }));
});

// An address with a fragment opens what it names.
function openNamed() {
  const named = location.hash ? document.getElementById(location.hash.slice(1)) : null;
  for (let one = named; one; one = one.parentElement) if (one.tagName === 'DETAILS') one.open = true;
  named?.scrollIntoView({ block: 'nearest' });
}
openNamed();
addEventListener('hashchange', openNamed);

const isSignIn = document.querySelector('body.plain') !== null;
const typed = isSignIn ? null : read(TYPED);
const wasSignedOut = sessionStorage.getItem('dashboard.signed-out') !== null;
if (isSignIn) sessionStorage.setItem('dashboard.signed-out', '1');
else sessionStorage.removeItem('dashboard.signed-out');
if (wasSignedOut && typed?.path === location.pathname) {
  const form = [...document.forms].find((one) => one.getAttribute('action') === typed.action);
  for (const { name, value } of form ? typed.values : []) {
    const field = form.elements[name];
    if (!field) continue;
    const isChanged = typeof value === 'boolean' ? field.checked !== value : field.value !== value;
    if (typeof value === 'boolean') field.checked = value;
    else field.value = value;
    if (isChanged) field.closest?.('details')?.setAttribute('open', '');
  }
  form?.closest('details')?.setAttribute('open', '');
  form?.scrollIntoView({ block: 'center' });
}
