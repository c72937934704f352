package redis

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCommandBody(t *testing.T) {
	for body, want := range map[string]string{
		`["SET","k","v"]`:                    "[SET][k][v]",
		" \n[ \"SET\" ,\t\"k\" , 1 ]\r\n ":   "[SET][k][1]",
		`["x",100,1e+21,9007199254740993]`:   "[x][100][1e+21][9007199254740993]",
		`["x",-0,0.50,-1.5E-7,12e3]`:         "[x][-0][0.50][-1.5E-7][12e3]",
		`["x",true,false]`:                   "[x][true][false]",
		`[1]`:                                "[1]",
		`["x",""]`:                           "[x][]",
		`["\"\\\/\b\f\n\r\t"]`:               "[\"\\/\b\f\n\r\t]",
		`["\u0041\u00e9\u20ac\ud83d\ude00"]`: "[Aé€😀]",
		`["\u0000x"]`:                        "[\x00x]",
		`["\ud800","\ude00x","\ud83dA"]`:     "[\ufffd][\ufffdx][\ufffdA]",
		`["\ud800\u0041\ud800\ud83d\ude00"]`: "[\ufffdA\ufffd😀]",
		`["é€😀"]`:                            "[é€😀]",
		`["a long plain text \n with an escape and a long plain tail"]`: "[a long plain text \n with an escape and a long plain tail]",
	} {
		var w Words
		if err := w.Command([]byte(body)); err != nil {
			t.Errorf("%s: %v", body, err)
		} else if got := list(w.Argv()); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

// The refusals of kv-http 2.4, to the letter.
func TestRefusedCommandBody(t *testing.T) {
	for body, want := range map[string]error{
		"":                         ErrEmptyBody,
		" \n\t":                    ErrEmptyBody,
		`{"a":1}`:                  ErrNotArray,
		`"SET"`:                    ErrNotArray,
		`17`:                       ErrNotArray,
		`-1`:                       ErrNotArray,
		`null`:                     ErrNotArray,
		`true`:                     ErrNotArray,
		`[]`:                       ErrEmptyCommand,
		` [ ] `:                    ErrEmptyCommand,
		`["SET","k",null]`:         ErrNull,
		`["SET","k",{"a":1}]`:      ErrObject,
		`["SET","k",["a"]]`:        ErrArray,
		`[["SET","k","v"]]`:        ErrArray,
		strings.Repeat("[", 1<<20): ErrArray,
	} {
		var w Words
		if err := w.Command([]byte(body)); !errors.Is(err, want) {
			t.Errorf("%.40s: %v, want %v", body, err, want)
		}
	}
}

func TestMalformedBody(t *testing.T) {
	for _, body := range []string{
		"[", `["a"`, `["a",`, `["a",]`, `[,]`, `[,"a"]`, `["a" "b"]`, `["a"]x`, `["a"]]`, `]`, `x`, `["a`, `["\x"]`, `["\u12"]`,
		`["\u12g4"]`, `["\`, `["\u`, "[\"a\nb\"]", "[\"a\x00\"]", "[\"12345678\x1f\"]", `[01]`, `[1.]`, `[.5]`, `[-]`, `[+1]`, `[1e]`, `[1e+]`,
		`[nul]`, `[truex]`, `[True]`, `[NaN]`, `['a']`, "\xef\xbb\xbf[\"a\"]",
	} {
		var w Words
		err := w.Command([]byte(body))
		if err == nil || !strings.HasPrefix(err.Error(), "ERR invalid JSON: ") {
			t.Errorf("%q: %v", body, err)
		}
	}
}

func TestBatchBody(t *testing.T) {
	for body, want := range map[string]string{
		`[["SET","k","v"],["GET","k"]]`: "[SET][k][v]|[GET][k]|",
		` [ [ "a" ] , [ 1 , true ] ] `:  "[a]|[1][true]|",
		``:                              "EOF",
		`{}`:                            "expected JSON array",
		`["SET","k","v"]`:               "expected JSON array",
		`[["a"],null]`:                  "expected JSON array",
		`[["a"],{"b":1}]`:               "expected JSON array",
		`[]`:                            "ERR empty command",
		`[["a"],[]]`:                    "ERR empty command",
		`[["a",null]]`:                  "ERR null args are not supported",
		`[["a",["b"]]]`:                 `ERR unsupported arg type: "[": json.Delim`,
		`[["a"],["b"],["c"],["d"]]`:     "ERR max commands of a batch exceeded. Limit: 3, Actual: more than 3. Setting: max-rows",
	} {
		var w Words
		got := ""
		if err := w.Batch([]byte(body), 3); err != nil {
			got = err.Error()
		}
		for _, row := range w.Rows() {
			got += list(row) + "|"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}

// An argument's slice must end where it ends: appending to one may not reach the next.
func TestArgumentsDoNotOverlap(t *testing.T) {
	var w Words
	if err := w.Batch([]byte(`[["a\n","b",12],["c",true]]`), 10); err != nil {
		t.Fatal(err)
	}
	for _, row := range w.Rows() {
		_ = append(row, []byte("over"))
		for _, a := range row {
			_ = append(a, "over"...)
		}
	}
	if got := list(w.Rows()[0]) + list(w.Rows()[1]); got != "[a\n][b][12][c][true]" {
		t.Fatalf("%q", got)
	}
}

func TestNumberOfArgumentsIsBounded(t *testing.T) {
	body := []byte("[" + strings.Repeat("1,", MaxWords) + "1]")
	var w Words
	if err := w.Command(body); !errors.Is(err, ErrTooManyWords) {
		t.Fatalf("%v", err)
	}
	w.Reset()
	half := "[" + strings.Repeat("1,", MaxWords/2) + "1]"
	if err := w.Batch([]byte("["+half+","+half+"]"), 2); !errors.Is(err, ErrTooManyWords) {
		t.Fatalf("%v", err)
	}
	if w.Reset(); cap(w.flat) > keptWords {
		t.Fatalf("an idle Words holds %d words", cap(w.flat))
	}
}

func TestReadingNeedsNoAllocation(t *testing.T) {
	body := []byte(`[["SET","key:1","a value\n",10],["GET","key:1"],["INCR","n"]]`)
	own := slices.Clone(body)
	var w Words
	read := func() {
		w.Reset()
		copy(own, body)
		if err := w.Batch(own, 10); err != nil {
			t.Fatal(err)
		}
	}
	read()
	if n := testing.AllocsPerRun(100, read); n != 0 {
		t.Errorf("%v allocations for a batch", n)
	}
	split := func() {
		w.Reset()
		if err := errors.Join(w.Path("set/a%20key/value"), w.Query("EX=10&NX")); err != nil {
			t.Fatal(err)
		}
	}
	split()
	if n := testing.AllocsPerRun(100, split); n != 0 {
		t.Errorf("%v allocations for a path", n)
	}
}

// reference reads a body with encoding/json, by the rules of kv-http 2.4. It returns one of the package's errors where
// the rules name one, any other for malformed JSON.
func reference(body []byte) ([][]byte, error) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	t, err := d.Token()
	if err == io.EOF {
		return nil, ErrEmptyBody
	}
	if err != nil {
		return nil, err
	}
	if t != json.Delim('[') {
		return nil, ErrNotArray
	}
	var argv [][]byte
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		switch t := t.(type) {
		case nil:
			return nil, ErrNull
		case string:
			argv = append(argv, []byte(t))
		case json.Number, bool:
			argv = append(argv, fmt.Append(nil, t))
		case json.Delim:
			if t == '[' {
				return nil, ErrArray
			}
			return nil, ErrObject
		}
	}
	if !json.Valid(body) {
		return nil, errors.New("malformed")
	}
	if len(argv) == 0 {
		return nil, ErrEmptyCommand
	}
	return argv, nil
}

func FuzzCommandBody(f *testing.F) {
	for _, s := range []string{`["SET","k",1,true]`, `["\u00e9\ud800x\ud83d\ude00"]`, `[-1.5e-7]`, `[null]`, `[[1]]`, `{}`, `[]`, "", `["a\tb"]`, `["a",]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if !utf8.Valid(body) {
			// encoding/json changes such bytes; this package keeps them. So only a crash is a failure here.
			var w Words
			_ = w.Command(slices.Clone(body))
			return
		}
		want, wantErr := reference(body)
		var w Words
		err := w.Command(slices.Clone(body))
		var named Refusal
		switch {
		case wantErr == nil && (err != nil || !equalWords(w.Argv(), want)):
			t.Fatalf("%q: %q %v, want %q", body, w.Argv(), err, want)
		case wantErr != nil && err == nil:
			t.Fatalf("%q was accepted as %q, want %v", body, w.Argv(), wantErr)
		case json.Valid(body) && errors.As(wantErr, &named) && err != wantErr:
			t.Fatalf("%q: %v, want %v", body, err, wantErr)
		}
	})
}

func FuzzBatchBody(f *testing.F) {
	for _, s := range []string{`[["SET","k","v"],["GET","k"]]`, `[["a"],[]]`, `[["a",null]]`, `[]`, `[[1],2]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var w Words
		err := w.Batch(slices.Clone(body), 8)
		var rows []json.RawMessage
		if json.Unmarshal(body, &rows) != nil || len(rows) == 0 {
			if err == nil {
				t.Fatalf("%q was accepted", body)
			}
			return
		}
		if !utf8.Valid(body) {
			return
		}
		var want [][][]byte
		for _, row := range rows {
			argv, bad := reference(row)
			if bad != nil || len(want) == 8 {
				if err == nil {
					t.Fatalf("%q was accepted: %v", body, bad)
				}
				return
			}
			want = append(want, argv)
		}
		if err != nil || !slices.EqualFunc(w.Rows(), want, equalWords) {
			t.Fatalf("%q: %q %v, want %q", body, w.Rows(), err, want)
		}
	})
}

func BenchmarkCommandBody(b *testing.B) {
	body := []byte(`["SET","key:0000000001","` + strings.Repeat("x", 64) + `"]`)
	var w Words
	b.ReportAllocs()
	for b.Loop() {
		w.Reset()
		if err := w.Command(body); err != nil {
			b.Fatal(err)
		}
	}
}
