package jsondoc

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// standard is v as encoding/json has it, with numbers as text.
func standard(v Value) any {
	switch v := v.(type) {
	case Bool:
		return bool(v)
	case String:
		return string(v)
	case Int, Uint, Double:
		b := written(v)
		return json.Number(b)
	case *Array:
		out := []any{}
		v.All(func(_ int, e Value) bool { out = append(out, standard(e)); return true })
		return out
	case *Object:
		out := map[string]any{}
		v.All(func(key string, e Value) bool { out[key] = standard(e); return true })
		return out
	}
	return nil
}

func written(v Value) []byte {
	w := writer{limit: MaxText}
	w.value(v)
	return w.b
}

// decodeStandard is text as encoding/json has it.
func decodeStandard(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if d.More() || json.Valid(text) != true {
		return nil, errors.New("more than one value")
	}
	return v, nil
}

// FuzzParse compares the parser with encoding/json: what it takes is the same value, and
// what it refuses is wrong, too deep, or something that only serde_json refuses. What it
// writes is read back as it was.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a":[1,-0,1.5e-7,true,false,null,"\u00e9\n"]}`, ` [ ] `, `{"a":1,"a":2}`, `"\ud83d\ude00"`, `"\ud800"`, `[1,]`, `{"a"}`, `01`, `1e999`, `18446744073709551616`, "\"\x01\"", `{"":{}}`, `tru`, `-`, strings.Repeat("[", 129)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		v, err := Parse(source)
		want, wantErr := decodeStandard(source)
		if err != nil {
			var syntax *SyntaxError
			serde := errors.As(err, &syntax) && (strings.Contains(syntax.Problem, "hex escape") || syntax.Problem == "number out of range")
			if wantErr == nil && !serde && !errors.Is(err, ErrDepth) && utf8.Valid(source) {
				t.Fatalf("%q is refused: %v", source, err)
			}
			if syntax != nil && (syntax.Line < 1 || syntax.Column > len(source)) {
				t.Fatalf("%q: %v", source, err)
			}
			return
		}
		if wantErr != nil {
			t.Fatalf("%q is taken, not by encoding/json: %v", source, wantErr)
		}
		out := written(v)
		if got, err := decodeStandard(out); err != nil || !reflect.DeepEqual(got, standard(v)) {
			t.Fatalf("%q is written as %q, %v", source, out, err)
		}
		if !sameValue(standard(v), want) {
			t.Fatalf("%q is read as %q", source, out)
		}
		again, err := Parse(out)
		if err != nil || !bytes.Equal(written(again), out) || again.Size() != v.Size() || v.Size() != measure(v) {
			t.Fatalf("%q is written as %q, which is read as another, %v", source, out, err)
		}
	})
}

// sameValue compares numbers by what they are worth.
func sameValue(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		n, ok := b.(json.Number)
		x, _ := a.Float64()
		y, _ := n.Float64()
		return ok && x == y
	case []any:
		other, ok := b.([]any)
		if !ok || len(a) != len(other) {
			return false
		}
		for i := range a {
			if !sameValue(a[i], other[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		other, ok := b.(map[string]any)
		if !ok || len(a) != len(other) {
			return false
		}
		for k := range a {
			if !sameValue(a[k], other[k]) {
				return false
			}
		}
		return true
	}
	return a == b
}

func TestDepth(t *testing.T) {
	for _, pair := range []string{"[]", `{"a":}`} {
		open, end := pair[:len(pair)-1], pair[len(pair)-1:]
		inner := "1"
		v, err := Parse([]byte(strings.Repeat(open, MaxDepth) + inner + strings.Repeat(end, MaxDepth)))
		if err != nil || Depth(v) != MaxDepth {
			t.Errorf("depth %d of %s: %v", MaxDepth, pair, err)
		}
		if _, err := Parse([]byte(strings.Repeat(open, MaxDepth+1))); !errors.Is(err, ErrDepth) {
			t.Errorf("one more: %v", err)
		}
	}
}

// TestDoubles reads back what is written, in the layout with the fewest digits.
func TestDoubles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
		if rapid.Bool().Draw(t, "small") {
			f = float64(rapid.Int64Range(-1e9, 1e9).Draw(t, "n")) / 1000
		}
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return
		}
		text := string(appendDouble(nil, f))
		v, err := Parse([]byte(text))
		if d, ok := v.(Double); err != nil || !ok || math.Float64bits(float64(d)) != math.Float64bits(f) {
			t.Fatalf("%x is written as %s, which is read as %v, %v", f, text, v, err)
		}
		if strings.ContainsAny(text, "+E") || !strings.ContainsAny(text, ".e") {
			t.Fatalf("%s", text)
		}
	})
}

// TestPower compares with math.Pow, which may be wrong in the last digits.
func TestPower(t *testing.T) {
	for _, c := range [][3]float64{{2, 0.5, math.Sqrt2}, {2, 10, 1024}, {0.5, 2, 0.25}, {-2, 3, -8}, {-2, 2, 4}, {10, -3, 0.001}, {9, 0.5, 3}, {4, -0.5, 0.5}, {1e300, 0, 1}, {0, 3, 0}, {0.0001220703125, 0.4208984375, 0.02253514139679186}, {2, 1023, math.Ldexp(1, 1023)}, {2, -1074, math.Ldexp(1, -1074)}} {
		if got := power(c[0], c[1]); got != c[2] {
			t.Errorf("%v to the %v is %v, want %v", c[0], c[1], got, c[2])
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		x, y := rapid.Float64Range(0, 1e9).Draw(t, "x"), rapid.Float64Range(-40, 40).Draw(t, "y")
		got, want := power(x, y), math.Pow(x, y)
		near := 1e-15 * (1 + math.Abs(y*math.Log(x))) * want // the precision of math.Pow
		if x > 0 && x < 0x1p-1022 {
			return // math.Log, of which math.Pow makes use, is wrong for subnormal numbers on amd64
		}
		if got != want && !(math.Abs(got-want) <= near) && want > 1e-300 {
			t.Fatalf("%v to the %v is %v, want %v", x, y, got, want)
		}
	})
}

// TestTooLong checks that neither a large value nor a layout can make a text without end.
func TestTooLong(t *testing.T) {
	const limit = 10_000
	deep, wide := Value(Int(1)), make([]Value, 20*limit)
	for range 100 {
		deep = NewArray(deep)
	}
	for i := range wide {
		wide[i] = Int(1)
	}
	for _, c := range []struct {
		v Value
		f Format
	}{
		{deep, Format{Indent: strings.Repeat(" ", limit/2)}}, {deep, Format{Newline: strings.Repeat(" ", limit/2)}},
		{NewArray(wide...), Format{}}, {ObjectOf(Member{"a", String("x")}), Format{Space: strings.Repeat(" ", limit)}},
	} {
		w := writer{format: c.f, limit: limit}
		if _, err := w.text(c.v); !errors.Is(err, ErrTooLong) || len(w.b) > 3*limit {
			t.Errorf("%d bytes of at most %d: %v", len(w.b), limit, err)
		}
	}
	exact := writer{limit: 5}
	if got, err := exact.text(NewArray(Int(1), Int(2))); got != "[1,2]" || err != nil {
		t.Errorf("at the limit: %q, %v", got, err)
	}
}
