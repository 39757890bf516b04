/** One of several, in a list that unfolds. */

interface ChoiceProps {
  readonly label: string;
  /** Whether only those hear the label who cannot see what is chosen. */
  readonly isUnseen?: boolean;
  readonly value: string | number;
  /** Values, and what they are called. */
  readonly options: readonly (readonly [string | number, string])[];
  readonly onChange: (value: string) => void;
}

export function Choice({ label, isUnseen, value, options, onChange }: ChoiceProps) {
  return (
    <label class="field">
      <span class={isUnseen ? 'unseen' : 'ink2'}>{label}</span>
      <select value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
