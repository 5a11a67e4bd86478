// Preloaded into a server for a negative control: leaks memory and handles.
const leaked = [];
setInterval(() => {
  leaked.push(Array.from({ length: 50_000 }, (_, n) => ({ n })));
  for (let n = 0; n < 5; n += 1) setInterval(() => undefined, 60_000);
}, 200);
