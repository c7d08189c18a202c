// The debugger: an event opens beside the list, or below its row where the screen is narrow. Without this script, it is a page of its own.

const panel = document.getElementById('event-panel');
const beside = panel.parentElement;
const list = document.getElementById('live');
const isWide = matchMedia('(min-width: 64rem)');
const EVERY_MS = 3000;

/** The address of the event that is shown; empty if none is. */
let shown = '';

/** The list is replaced while it is live, so its links are looked up again. */
const linkOf = (address) =>
  [...list.querySelectorAll('a[data-event]')].find(({ href }) => address !== '' && href === address);

function mark() {
  const current = linkOf(shown);
  for (const link of list.querySelectorAll('a[data-event][aria-current]'))
    if (link !== current) link.removeAttribute('aria-current');
  if (current && !current.hasAttribute('aria-current')) current.setAttribute('aria-current', 'true');
}

function place() {
  const row = linkOf(shown)?.closest('tr');
  const own = list.querySelector('.event-row');
  if (isWide.matches || !row) beside.append(panel);
  else if (own?.previousElementSibling !== row) {
    const below = document.createElement('tr');
    below.className = 'event-row';
    const cell = below.insertCell();
    cell.colSpan = row.cells.length;
    cell.append(panel);
    row.after(below);
  }
  for (const row of list.querySelectorAll('.event-row')) if (!row.contains(panel)) row.remove();
}

function close() {
  const link = linkOf(shown);
  shown = '';
  panel.hidden = true;
  place();
  mark();
  link?.focus();
}

/** Fills the panel with the event's page. */
function fill(page, address) {
  const heading = document.createElement('h2');
  heading.textContent = page.querySelector('h1').textContent;
  heading.tabIndex = -1;
  const whole = document.createElement('a');
  whole.href = address;
  whole.textContent = 'Open as a page';
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'quiet';
  button.textContent = 'Close';
  button.addEventListener('click', close);
  const asides = document.createElement('span');
  asides.className = 'asides';
  asides.append(whole, button);
  const head = document.createElement('header');
  head.className = 'card-head';
  head.append(heading, asides);
  const content = page.getElementById('event');
  const waits = content.querySelector('[data-live]') !== null;
  // The list has the same id.
  content.querySelector('#live').removeAttribute('id');
  panel.replaceChildren(head, ...content.childNodes);
  return { heading, waits };
}

async function open(address, isAgain = false) {
  shown = address;
  const answer = await fetch(address).catch(() => null);
  // Another event was opened, or the panel was closed.
  if (shown !== address) return;
  if (!answer?.ok || answer.redirected) {
    location.href = address;
    return;
  }
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const isReading =
    isAgain && (panel.contains(document.activeElement) || panel.querySelector('details[open]'));
  const { heading, waits } = isReading ? { waits: true } : fill(page, address);
  panel.hidden = false;
  place();
  mark();
  if (!isAgain) heading.focus({ preventScroll: isWide.matches });
  if (waits) setTimeout(() => shown === address && open(address, true), EVERY_MS);
}

list.addEventListener('click', (event) => {
  const link = event.target.closest('a[data-event]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  void open(link.href);
});
panel.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') close();
});
isWide.addEventListener('change', () => shown !== '' && place());
new MutationObserver(mark).observe(list, { childList: true, subtree: true });
