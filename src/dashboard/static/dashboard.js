// Progressive enhancement of the pages. Everything works without it.

import { setUpCharts } from './chart.js';

setUpCharts(document);

/** Shows the copy buttons of a part of the page, where scripts can copy. */
export function offerCopies(part) {
  for (const button of part.querySelectorAll('[data-copy]')) {
    if (!navigator.clipboard) continue;
    button.hidden = false;
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(button.dataset.copy);
      const before = button.textContent;
      button.textContent = 'Copied';
      setTimeout(() => {
        button.textContent = before;
      }, 1500);
    });
  }
}

offerCopies(document);

document.addEventListener('submit', (event) => {
  const question = event.target.dataset.confirm;
  if (question && !window.confirm(question)) event.preventDefault();
});

// The lights of the get-started panel: polled every two seconds until all are on.
for (const watched of document.querySelectorAll('[data-watch]')) {
  const look = async () => {
    const answer = await fetch(watched.dataset.watch).catch(() => null);
    const state = answer?.ok ? await answer.json() : {};
    let waiting = false;
    for (const light of watched.querySelectorAll('[data-light]')) {
      const on = light.classList.contains('on') || state[light.dataset.light] === true;
      waiting ||= !on;
      if (!on || light.classList.contains('on')) continue;
      light.classList.replace('waiting', 'on');
      watched.querySelector(`[data-light-text="${light.dataset.light}"]`).textContent = 'arrived';
    }
    if (waiting) setTimeout(look, 2000);
  };
  if (watched.querySelector('.light.waiting')) setTimeout(look, 2000);
}

// Reloads a part of the page (`data-live`) every few seconds, unless someone is reading in it or has paused it; `data-from` is where the part
// comes from, if not from the page itself. Tables keep their scroll
// position, and hidden series of charts stay hidden.
for (const live of document.querySelectorAll('[data-live]')) {
  const every = (Number(live.dataset.live) || 3) * 1000;
  let paused = false;
  // The state line is reloaded too, so its button has to be added again each time.
  const offerPause = () => {
    const state = live.querySelector('[data-live-state]');
    if (!state) return;
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'quiet';
    const show = () => {
      button.textContent = paused ? 'Resume' : 'Pause';
      button.setAttribute('aria-pressed', String(paused));
    };
    show();
    button.addEventListener('click', () => {
      paused = !paused;
      show();
      button.blur();
    });
    state.replaceChildren(`Updates every ${every / 1000} seconds `, button);
  };
  const renew = async () => {
    if (!live.isConnected) return;
    const busy =
      paused ||
      live.querySelector('details[open], .tip, .event-row') ||
      live.contains(document.activeElement) ||
      document.hidden;
    const answer = busy ? null : await fetch(live.dataset.from ?? location.href).catch(() => null);
    if (answer?.ok && !answer.redirected) {
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const fresh = page.getElementById(live.id);
      // Nothing in its place: the part has done its work.
      if (!fresh && live.dataset.from) return live.remove();
      if (fresh && !paused) {
        const scrolled = [...live.querySelectorAll('.scroll')].map(({ scrollLeft }) => scrollLeft);
        const hidden = [...live.querySelectorAll('.chart')].map((chart) =>
          [...chart.querySelectorAll('[aria-pressed="false"]')].map(({ dataset }) => dataset.series),
        );
        live.replaceChildren(...fresh.childNodes);
        // The line about freshness is about the figures that the page shows now.
        const line = live.dataset.from ? null : page.getElementById('fresh');
        if (line) document.getElementById('fresh')?.replaceWith(line);
        offerPause();
        for (const [index, part] of live.querySelectorAll('.scroll').entries()) {
          part.scrollLeft = scrolled[index] ?? 0;
        }
        setUpCharts(live);
        for (const [index, chart] of live.querySelectorAll('.chart').entries()) {
          for (const series of hidden[index] ?? [])
            chart.querySelector(`button[data-series="${series}"]`)?.click();
        }
        live.className = fresh.className;
        if (!fresh.hasAttribute('data-live')) return;
      }
    }
    setTimeout(renew, every);
  };
  offerPause();
  setTimeout(renew, every);
}
