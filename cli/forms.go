package cli

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// A form renders a JSON value for a table.
type form func(v any) string

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

// compact is JSON in one line.
func compact(v any) string {
	text, err := encode(v)
	if err != nil {
		return "-"
	}
	return printable(string(text))
}

// when shows unix milliseconds in UTC.
func when(v any) string { return moment(v, time.UnixMilli) }

// whenSeconds shows unix seconds in UTC.
func whenSeconds(v any) string { return moment(v, func(n int64) time.Time { return time.Unix(n, 0) }) }

func moment(v any, of func(int64) time.Time) string {
	n, ok := number(v)
	switch {
	case !ok:
		return plain(v)
	case n == 0:
		return "-"
	}
	return of(n).UTC().Format("2006-01-02T15:04:05.000Z")
}

// none shows 0 as a hyphen, where it means that there is none.
func none(v any) string {
	if n, ok := number(v); ok && n == 0 {
		return "-"
	}
	return plain(v)
}

// timetable shows a list of unix milliseconds.
func timetable(v any) string {
	list, _ := v.([]any)
	texts := make([]string, len(list))
	for i, one := range list {
		texts[i] = when(one)
	}
	return dash(strings.Join(texts, ", "))
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
func formOf(name string) form {
	switch name {
	case "time", "createdAt", "updatedAt", "notBefore", "nextDeliveryTime", "lastScheduleTime", "nextScheduleTime", "deadline",
		"workflowCreatedAt", "workflowRunCreatedAt", "workflowRunCompletedAt", "since", "next":
		return when
	case "ratePeriodStart":
		return whenSeconds
	case "nextScheduleTimes":
		return timetable
	}
	return plain
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
