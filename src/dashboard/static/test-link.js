// Reports when a click on the link arrives, whether it was opened here or on a phone. Polls every two seconds for ten minutes.

const ASKED_EVERY_MS = 2000;
const GIVEN_UP_MS = 600_000;

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
      return;
    }
    if (Date.now() - began < GIVEN_UP_MS) setTimeout(look, ASKED_EVERY_MS);
  };
  status.textContent = 'Waiting for your click …';
  setTimeout(look, ASKED_EVERY_MS);
}
