package cli

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// A form renders a JSON value in its way for people, for a terminal and for programs. Of nil it is the value as it is.
type form struct {
	text  func(v any) string                // in tables; nothing is a hyphen
	short func(v any, now time.Time) string // in tables of a terminal; nil: text
	data  func(v any) string                // in CSV: nothing is empty, figures have no unit, times are RFC 3339; nil: bare
	unit  string                            // of the figures of data, in capitals
	paint func(v any) style                 // on a terminal; nil: plain
}

func (f *form) show(v any) string {
	if f == nil {
		return plain(v)
	}
	return f.text(v)
}

func (f *form) value(v any) string {
	if f == nil || f.data == nil {
		return bare(v)
	}
	return f.data(v)
}

// plain shows a value as it is; nothing is a hyphen, and lists have commas.
func plain(v any) string {
	switch v := v.(type) {
	case nil:
		return "-"
	case string:
		return dash(printable(v))
	case json.Number:
		return v.String()
	case bool:
		return map[bool]string{true: "yes", false: "no"}[v]
	case []any:
		texts := make([]string, len(v))
		for i, one := range v {
			texts[i] = plain(one)
			if _, scalar := one.(string); !scalar {
				return compact(v)
			}
		}
		return dash(strings.Join(texts, ", "))
	}
	return compact(v)
}

// bare is a value as a cell of CSV.
func bare(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return v.String()
	case string:
		return notFormula(printable(v))
	case []any:
		if len(v) == 0 {
			return ""
		}
	}
	return notFormula(plain(v))
}

// computed is a form of a text that is made of several members: the same for people and programs, but for the hyphen.
func computed(text func(v any) string) *form {
	return &form{text: func(v any) string { return dash(text(v)) }, data: func(v any) string { return notFormula(text(v)) }}
}

// compact is JSON in one line.
func compact(v any) string {
	text, err := encode(v)
	if err != nil {
		return "-"
	}
	return printable(string(text))
}

var (
	// when is a time in unix milliseconds, in UTC; on a terminal it is an age.
	when = moment(time.UnixMilli)
	// whenSeconds is a time in unix seconds.
	whenSeconds = moment(func(n int64) time.Time { return time.Unix(n, 0) })
	// whenText is a time of RFC 3339.
	whenText = &form{text: plain, short: func(v any, now time.Time) string {
		text, _ := v.(string)
		if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
			return age(at, now)
		}
		return plain(v)
	}}
	// none shows 0 as nothing, where it means that there is none.
	none = &form{
		text: func(v any) string { return dash(orNothing(v, plain)) },
		data: func(v any) string { return orNothing(v, bare) },
	}
	// seconds shows a number of seconds with its unit, and 0 as nothing.
	seconds = &form{
		text: func(v any) string {
			if n, ok := number(v); ok && n > 0 {
				return strconv.FormatInt(n, 10) + "s"
			}
			return "-"
		},
		data: none.data, unit: "SECONDS",
	}
	// millis are a duration; less than 0 is unknown.
	millis = &form{
		text: func(v any) string {
			if n, ok := number(v); ok && n >= 0 {
				return strconv.FormatInt(n, 10) + " ms"
			}
			return "-"
		},
		data: func(v any) string {
			if n, ok := number(v); ok && n < 0 {
				return ""
			}
			return bare(v)
		},
		unit: "MS",
	}
	// size are bytes.
	size = &form{text: plain, short: func(v any, _ time.Time) string {
		if n, ok := number(v); ok {
			return humanSize(float64(n))
		}
		return plain(v)
	}}
	// timetable is a list of unix milliseconds.
	timetable = computed(func(v any) string {
		list, _ := v.([]any)
		texts := make([]string, len(list))
		for i, one := range list {
			texts[i] = when.text(one)
		}
		return strings.Join(texts, ", ")
	})
	// yes shows a member that is left out where it is false.
	yes = &form{text: func(v any) string { return plain(v == true) }, data: func(v any) string { return bare(v == true) }}
	// length is the number of elements of a list.
	length = &form{text: count, data: count}
)

// fixed is the form of a figure with some digits behind the point, and with a unit.
func fixed(digits int, unit string) *form {
	space := strings.Repeat(" ", min(1, len(unit)))
	return &form{text: func(v any) string {
		n, ok := v.(json.Number)
		f, err := n.Float64()
		if !ok || err != nil {
			return plain(v)
		}
		return strconv.FormatFloat(f, 'f', digits, 64) + space + unit
	}, unit: strings.ToUpper(unit)}
}

// mebibytes are bytes.
var mebibytes = &form{text: func(v any) string {
	n, _ := v.(json.Number)
	f, err := n.Float64()
	if err != nil {
		return plain(v)
	}
	return strconv.FormatFloat(f/(1<<20), 'f', 1, 64) + " MiB"
}, unit: "BYTES"}

// orNothing is empty for 0, and else what show says.
func orNothing(v any, show func(any) string) string {
	if n, ok := number(v); ok && n == 0 {
		return ""
	}
	return show(v)
}

func count(v any) string {
	list, _ := v.([]any)
	return strconv.Itoa(len(list))
}

func moment(of func(int64) time.Time) *form {
	full := func(v any) string {
		n, ok := number(v)
		switch {
		case !ok:
			return bare(v)
		case n == 0:
			return ""
		}
		return of(n).UTC().Format("2006-01-02T15:04:05.000Z")
	}
	return &form{
		text: func(v any) string { return dash(full(v)) },
		data: full,
		short: func(v any, now time.Time) string {
			if n, ok := number(v); ok && n != 0 {
				return age(of(n), now)
			}
			return dash(full(v))
		},
	}
}

// age says how long ago a time was, or how far ahead it is, in its largest unit.
func age(at, now time.Time) string {
	d := now.Sub(at)
	if d < 0 {
		return "in " + rough(-d)
	}
	return rough(d)
}

// rough is a duration by its largest unit: 59s, 3m, 5h, 12d.
func rough(d time.Duration) string {
	for _, u := range []struct {
		name string
		unit time.Duration
		from time.Duration
	}{{"d", 24 * time.Hour, 48 * time.Hour}, {"h", time.Hour, 2 * time.Hour}, {"m", time.Minute, 2 * time.Minute}} {
		if d >= u.from {
			return strconv.FormatInt(int64(d/u.unit), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(d/time.Second), 10) + "s"
}

// humanSize is a number of bytes with at most three digits: 999 B, 1.5 KiB, 312 MiB.
func humanSize(n float64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	i := 0
	for n >= 1000 && i < len(units)-1 {
		n, i = n/1024, i+1
	}
	digits := 0
	if i > 0 && n < 10 {
		digits = 1
	}
	return strconv.FormatFloat(n, 'f', digits, 64) + " " + units[i]
}

func number(v any) (int64, bool) {
	switch v := v.(type) {
	case json.Number:
		n, err := v.Int64()
		return n, err == nil
	case string: // times of events, with --spec-literal
		n, err := strconv.ParseInt(v, 10, 64)
		return n, err == nil
	}
	return 0, false
}

// formOf is the form of a member by its name, which says the unit in the API.
func formOf(name string) *form {
	switch name {
	case "time", "createdAt", "updatedAt", "notBefore", "nextDeliveryTime", "lastScheduleTime", "nextScheduleTime", "deadline",
		"workflowCreatedAt", "workflowRunCreatedAt", "workflowRunCompletedAt", "since", "next", "firedAt":
		return when
	case "ratePeriodStart":
		return whenSeconds
	case "nextScheduleTimes":
		return timetable
	case "keep":
		return millis
	}
	return nil
}

// spaced is a title made of a member's name: callerIP is CALLER IP.
func spaced(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if i > 0 && unicode.IsUpper(r) && !unicode.IsUpper(runes[i-1]) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToUpper(r))
	}
	return b.String()
}

// printable replaces what could move the cursor or colour the terminal, and line breaks, by escapes: texts come from
// their publisher.
func printable(s string) string {
	if !strings.ContainsFunc(s, needsEscape) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if needsEscape(r) {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func needsEscape(r rune) bool { return r != ' ' && !unicode.IsGraphic(r) }

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// figure is a number, 0 for what is none.
func figure(v any) float64 {
	n, _ := v.(json.Number)
	f, err := n.Float64()
	if err != nil {
		return 0
	}
	return f
}
