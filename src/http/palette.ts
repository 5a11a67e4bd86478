/** Light and dark by the device's preference; every pair of colours has a contrast of at least 4.5:1. */
export const palette = `:root {
  color-scheme: light dark;
  --page: #f6f5f2;
  --card: #ffffff;
  --ink: #1d2328;
  --soft: #515a62;
  --line: #d8d5cd;
  --link: #0b5a8a;
  --fill: #0b5a8a;
  --on-fill: #ffffff;
  --good: #1f6a3a;
  --good-back: #e3f3e8;
  --wait: #7a4a00;
  --wait-back: #fcf0d8;
  --bad: #a3231c;
  --bad-back: #fce8e6;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #15191d;
    --card: #1f252a;
    --ink: #eceff1;
    --soft: #b3bdc5;
    --line: #3b444c;
    --link: #8ecbf2;
    --fill: #8ecbf2;
    --on-fill: #0d1b26;
    --good: #a3e0b7;
    --good-back: transparent;
    --wait: #f5cd83;
    --wait-back: transparent;
    --bad: #ffb1a8;
    --bad-back: transparent;
  }
}
`;
