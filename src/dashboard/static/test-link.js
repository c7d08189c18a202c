// Reports when a click on the link arrives, whether it was opened here or on a phone. Polls every two seconds for ten minutes.

import { offerCopies } from './dashboard.js';

const ASKED_EVERY_MS = 2000;
const GIVEN_UP_MS = 600_000;

/** Adds the next step, which needs the click's id, from the page as it is now. */
async function showNextStep() {
  const answer = await fetch(location.href).catch(() => null);
  if (!answer?.ok || answer.redirected) return;
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const step = page.getElementById('test-install');
  document.getElementById('test-install').replaceWith(step);
  offerCopies(step);
}

for (const status of document.querySelectorAll('[data-click-watch]')) {
  const since = Number(status.dataset.since);
  const began = Date.now();
  const look = async () => {
    const answer = document.hidden ? null : await fetch(status.dataset.clickWatch).catch(() => null);
    const click = answer?.ok ? await answer.json() : {};
    if (click.clicked_at > since) {
      const where = click.country ? ` from ${click.country.toUpperCase()}` : '';
      const os = { android: ' on Android', ios: ' on iOS' }[click.os] ?? '';
      status.textContent = `The click arrived at ${new Date(click.clicked_at).toLocaleTimeString()}${os}${where}.`;
      status.classList.add('arrived');
      await showNextStep();
      return;
    }
    if (Date.now() - began < GIVEN_UP_MS) setTimeout(look, ASKED_EVERY_MS);
  };
  // A click of the last minutes has been reported already, and the next step is shown.
  if (!status.dataset.last) status.textContent = 'Waiting for your click …';
  setTimeout(look, ASKED_EVERY_MS);
}
