/** The scale that tokens are coloured by: chosen here, always shown, always the same. */

import type { ComponentChildren } from 'preact';
import { legends, type Scale, scales } from './scales.ts';

interface LegendProps {
  readonly scale: Scale;
  /** Why a scale cannot be shown. */
  readonly missing: Partial<Record<Scale, string>>;
  readonly onChange: (scale: Scale) => void;
  /** The step whose tokens `n` leads to. */
  readonly level: number;
  readonly onLevel: (level: number) => void;
  readonly children: ComponentChildren;
}

export function Legend({ scale, missing, onChange, level, onLevel, children }: LegendProps) {
  const { title, steps } = legends[scale];
  return (
    <div class="legend">
      <div class="segmented" role="group" aria-label="Colour of tokens">
        {scales.map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={name === scale}
            disabled={missing[name] !== undefined}
            title={missing[name] ?? ''}
            onClick={() => onChange(name)}
          >
            {name[0]!.toUpperCase() + name.slice(1)}
          </button>
        ))}
      </div>
      <div class="scale">
        <span class="ink2">{title}</span>
        {steps.map((step, index) => (
          <button
            key={step.name}
            type="button"
            class={`swatch ${step.name}`}
            aria-pressed={index === level}
            title="To the next token from here on (n)"
            onClick={() => onLevel(index)}
          >
            {step.label}
          </button>
        ))}
      </div>
      {children}
    </div>
  );
}
