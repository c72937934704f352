package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// items are rows for tables.
func items(t *testing.T, text string) []any {
	v, err := decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v.([]any)
}

var tested = []column{{"NAME", "name", nil, named}, {"STATE", "state", stateForm, keep}, {"CREATED", "at", when, keep}, {"LABEL", "label", nil, drops}, {"ERROR", "error", nil, drops}, {"MORE", "more", nil, wide}}

const rows = `[{"name":"a","state":"DELIVERED","at":1700000000000,"label":"x"},{"name":"日本","state":"FAILED","at":1700000060000,"label":"yy","error":"connection refused by the peer","more":"m"}]`

// TestTableFitsTheTerminal: times are ages, columns are left out by their places, and what is still too long is cut.
func TestTableFitsTheTerminal(t *testing.T) {
	now := time.UnixMilli(1_700_000_180_000)
	for name, c := range map[string]struct {
		width int
		want  string
	}{
		"room":   {100, "NAME  STATE      CREATED  LABEL  ERROR\na     DELIVERED  3m       x      -\n日本  FAILED     2m       yy     connection refused by the peer\n"},
		"narrow": {40, "NAME  STATE      CREATED  LABEL\na     DELIVERED  3m       x\n日本  FAILED     2m       yy\nnot shown: ERROR (-o wide shows all)\n"},
		"least":  {20, "NAME  STATE      CREATED\na     DELIVERED  3m\n日本  FAILED     2m\nnot shown: LABEL, ERROR (-o wide shows all)\n"},
	} {
		o := output{format: asTable, to: terminal{is: true, width: c.width, now: now}}
		var out bytes.Buffer
		if err := o.rows(&out, nil, items(t, rows), tested); err != nil || out.String() != c.want {
			t.Errorf("%s: got\n%s%v, want\n%s", name, out.String(), err, c.want)
		}
	}
	o := output{format: asWide, to: terminal{is: true, width: 20, now: now}}
	var out bytes.Buffer
	if err := o.rows(&out, nil, items(t, rows), tested); err != nil || !strings.Contains(out.String(), "2023-11-14T22:14:20.000Z  yy     connection refused by the peer  m\n") {
		t.Errorf("wide: %s, %v", out.String(), err)
	}
}

// TestColumnsWithoutValuesGoFirst: nobody is told of them.
func TestColumnsWithoutValuesGoFirst(t *testing.T) {
	o := output{format: asTable, to: terminal{is: true, width: 30, now: time.UnixMilli(0)}}
	var out bytes.Buffer
	if err := o.rows(&out, nil, items(t, `[{"name":"a","error":"one"}]`), tested[:1:1]); err != nil || out.String() != "NAME\na\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	out.Reset()
	columns := []column{tested[0], tested[3], tested[4]}
	if err := o.rows(&out, nil, items(t, `[{"name":"a name of 20 letters","error":"one"}]`), columns); err != nil || out.String() != "NAME                  ERROR\na name of 20 letters  one\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

// TestCut: to a number of cells, of which some characters take two and some none.
func TestCut(t *testing.T) {
	for text, want := range map[string]string{"abcdef": "abcdef", "abcdefg": "abcde…", "日本語": "日本語", "日本語日": "日本…", "e\u0301e\u0301e\u0301": "e\u0301e\u0301e\u0301"} {
		if got := cut(text, 6); got != want || displayWidth(got) > 6 {
			t.Errorf("%q is cut to %q, want %q", text, got, want)
		}
	}
}

// TestColorIsNeverTheOnlySign: states are coloured where that is wanted, and named in any case.
func TestColorIsNeverTheOnlySign(t *testing.T) {
	o := output{format: asTable, to: terminal{is: true, width: 100, color: true, symbols: true, now: time.Now()}}
	var out bytes.Buffer
	if err := o.rows(&out, nil, items(t, rows), tested[:2]); err != nil || !strings.Contains(out.String(), "\x1b[32m✓ DELIVERED\x1b[0m\n") || !strings.Contains(out.String(), "\x1b[31m✗ FAILED\x1b[0m\n") {
		t.Errorf("%q, %v", out.String(), err)
	}
	for _, c := range []struct {
		flag, variable string
		want           bool
	}{{"always", "", true}, {"always", "1", true}, {"auto", "", false}, {"never", "", false}} {
		t.Setenv("NO_COLOR", c.variable)
		if got := look(&out, c.flag).color; got != c.want {
			t.Errorf("--color %s to a pipe, NO_COLOR=%q: %v", c.flag, c.variable, got)
		}
	}
}

// TestAge: the largest unit that says enough.
func TestAge(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	for d, want := range map[time.Duration]string{0: "0s", 59 * time.Second: "59s", 119 * time.Second: "119s", 2 * time.Minute: "2m", 119 * time.Minute: "119m", 47 * time.Hour: "47h", 49 * time.Hour: "2d", -3 * time.Minute: "in 3m"} {
		if got := age(now.Add(-d), now); got != want {
			t.Errorf("%s is %s, want %s", d, got, want)
		}
	}
	for n, want := range map[float64]string{0: "0 B", 999: "999 B", 1024: "1.0 KiB", 1536: "1.5 KiB", 10 << 20: "10 MiB", 1023 << 20: "1.0 GiB"} {
		if got := humanSize(n); got != want {
			t.Errorf("%v bytes are %s, want %s", n, got, want)
		}
	}
}

// TestNoCellIsAFormula: what a spreadsheet would run has an apostrophe in front; figures stay figures.
func TestNoCellIsAFormula(t *testing.T) {
	for text, want := range map[string]string{"=1+1": "'=1+1", "+1": "'+1", "-x": "'-x", "@SUM(A1)": "'@SUM(A1)", "\t=1": `\t=1`, "plain": "plain", "": "", "a=b": "a=b"} {
		if got := bare(text); got != want {
			t.Errorf("%q is the cell %q, want %q", text, got, want)
		}
	}
	for v, want := range map[any]string{json.Number("-1"): "-1", json.Number("1.5"): "1.5", true: "true", nil: ""} {
		if got := bare(v); got != want {
			t.Errorf("%v is the cell %q, want %q", v, got, want)
		}
	}
	if got := bare([]any{"=a", "b"}); got != "'=a, b" {
		t.Errorf("a list is the cell %q", got)
	}
	if got := millis.data(json.Number("-1")) + fmt.Sprint(seconds.data(json.Number("60"))); got != "60" {
		t.Errorf("durations are %q", got)
	}
}

// TestStatesAreThoseOfTheAPI compares the names with its document.
func TestStatesAreThoseOfTheAPI(t *testing.T) {
	document := readFile(t, "../httpapi/messages/openapi.yaml")
	for name, states := range map[string][]string{"RunState": runStates, "StepState": stepStates, "FailureState": callbackStates} {
		if want := "    " + name + ": {enum: [" + strings.Join(states, ", ") + "]}"; !strings.Contains(document, want) {
			t.Errorf("the document has no line %q", want)
		}
	}
	_, rest, _ := strings.Cut(document, "\n    State:")
	enum, _, _ := strings.Cut(rest, "]")
	for _, state := range messageStates {
		if !strings.Contains(enum, state) && state != "IN_PROGRESS" {
			t.Errorf("the document has no state %s: %s", state, enum)
		}
	}
}

func readFile(t *testing.T, path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
