/** Light or dark: as the system says, until somebody chooses. */

import { effect, signal } from '@preact/signals';

type Theme = 'light' | 'dark';

const stored = 'turnwise-view-theme';
const prefersDark = matchMedia('(prefers-color-scheme: dark)');
const chosen = localStorage.getItem(stored);

export const theme = signal<Theme>(
  chosen === 'light' || chosen === 'dark' ? chosen : prefersDark.matches ? 'dark' : 'light',
);

prefersDark.addEventListener('change', ({ matches }) => {
  if (localStorage.getItem(stored) === null) theme.value = matches ? 'dark' : 'light';
});

effect(() => {
  document.documentElement.dataset.theme = theme.value;
});

export function switchTheme(): void {
  theme.value = theme.value === 'dark' ? 'light' : 'dark';
  localStorage.setItem(stored, theme.value);
}
