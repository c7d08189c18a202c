// What makes the pages nicer where a script may run. Everything works without it.

for (const button of document.querySelectorAll('[data-copy]')) {
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

document.addEventListener('submit', (event) => {
  const question = event.target.dataset.confirm;
  if (question && !window.confirm(question)) event.preventDefault();
});

// The lights of the get-started panel: asked every two seconds until all are on.
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

// What a chart says at one place: under the pointer, or moved to with the arrow keys.
for (const plot of document.querySelectorAll('[data-chart]')) {
  const { places, labels, series } = JSON.parse(plot.dataset.chart);
  const cross = document.createElement('div');
  const tip = document.createElement('div');
  cross.className = 'cross';
  tip.className = 'tip';
  let at = -1;
  const leave = () => {
    at = -1;
    cross.remove();
    tip.remove();
  };
  const show = (index) => {
    at = Math.min(labels.length - 1, Math.max(0, index));
    const place = places[at];
    const heading = document.createElement('b');
    heading.textContent = labels[at];
    const lines = series.map(({ name, texts }) => {
      const line = document.createElement('div');
      line.textContent = `${name}: ${texts[at]}`;
      return line;
    });
    tip.replaceChildren(heading, ...lines);
    cross.style.left = `${place}%`;
    tip.style.left = place < 50 ? `calc(${place}% + 0.75rem)` : '';
    tip.style.right = place < 50 ? '' : `calc(${100 - place}% + 0.75rem)`;
    plot.append(cross, tip);
  };
  plot.tabIndex = 0;
  plot.setAttribute('role', 'group');
  plot.setAttribute('aria-label', 'Chart: the arrow keys read it');
  tip.setAttribute('role', 'status');
  plot.addEventListener('pointermove', (event) => {
    const box = plot.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * 100;
    const distances = places.map((place) => Math.abs(place - x));
    show(distances.indexOf(Math.min(...distances)));
  });
  plot.addEventListener('pointerleave', leave);
  plot.addEventListener('blur', leave);
  plot.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') leave();
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
    event.preventDefault();
    show(event.key === 'ArrowLeft' ? (at < 0 ? labels.length : at) - 1 : at + 1);
  });
}

// A part of the page that is fetched again every few seconds, unless someone is reading in it or has paused it.
for (const live of document.querySelectorAll('[data-live]')) {
  let paused = false;
  // The part that says so is fetched again as well: its button has to come back each time.
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
    state.replaceChildren('Updates every 3 seconds ', button);
  };
  const renew = async () => {
    const busy =
      paused ||
      live.querySelector('details[open]') ||
      live.contains(document.activeElement) ||
      document.hidden;
    const answer = busy ? null : await fetch(location.href).catch(() => null);
    if (answer?.ok && !answer.redirected) {
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const fresh = page.getElementById(live.id);
      if (fresh && !paused) {
        live.replaceChildren(...fresh.childNodes);
        offerPause();
        if (!fresh.hasAttribute('data-live')) return;
      }
    }
    setTimeout(renew, 3000);
  };
  offerPause();
  setTimeout(renew, 3000);
}
