// A line without axes, for a row of a table: when it rose, beside the figure of now.

/**
 * points are the places of figures in a box of 100 by 20, the highest one at its top. Of more than most figures, each
 * place is the highest of several.
 */
export function points(data: number[], most = 100): string {
  const top = Math.max(...data, 0) || 1,
    step = Math.max(1, Math.ceil(data.length / most)),
    places: string[] = [];
  for (let i = 0; i < data.length; i += step) {
    const here = Math.max(...data.slice(i, i + step));
    const x = data.length > 1 ? (100 * i) / (data.length - 1) : 0;
    places.push(`${Math.round(x * 10) / 10},${Math.round((19 - (18 * here) / top) * 10) / 10}`);
  }
  return places.join(" ");
}

export const Spark = ({ data, label }: { data: number[]; label: string }) => (
  <svg class="spark" viewBox="0 0 100 20" preserveAspectRatio="none" role="img" aria-label={label}>
    <polyline points={points(data)} />
  </svg>
);
