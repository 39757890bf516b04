/** Losses that several recipes share, as text. */

/** What `objective.*` sets: see `src/objective/ppo-clip.ts`. */
export const clippedLoss =
  'loss = Σ weight · max(−A·ρ, −A·clip(ρ, 1 − clipLow, 1 + clipHigh)), at most −A·dualClip where A < 0; ρ = π / π_old';
