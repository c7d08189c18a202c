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
