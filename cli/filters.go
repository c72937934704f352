package cli

import (
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/pflag"
)

// filterKind is the syntax of a filter's value.
type filterKind int

const (
	textFilter filterKind = iota // may be given several times, values are alternatives
	timeFilter
	switchFilter
)

// A filter is a flag that selects, with the parameter of the API that it sets. Choices are its only values; without any it takes all.
type filter struct {
	flag, parameter, usage string
	kind                   filterKind
	choices                []string
}

// among returns a filter that takes some words only.
func (fi filter) among(choices []string) filter {
	fi.choices = choices
	fi.usage += ": " + listed(choices)
	return fi
}

// common are the filters of messages, dead letters and events.
var common = []filter{
	{"destination", "url", "destination `URL`", textFilter, nil},
	{"group", "topicName", "`NAME` of a URL group", textFilter, nil},
	{"queue", "queueName", "`NAME` of a queue", textFilter, nil},
	{"schedule", "scheduleId", "`ID` of a schedule", textFilter, nil},
	{"label", "label", "`LABEL`", textFilter, nil},
	{"flow-control-key", "flowControlKey", "flow-control `KEY`", textFilter, nil},
	{"caller-ip", "callerIp", "`ADDRESS` of the publisher", textFilter, nil},
	fromFilter, toFilter,
}

var (
	fromFilter  = filter{"from", "fromDate", "earliest `TIME`: RFC 3339, unix milliseconds, or a duration ago such as 90m", timeFilter, nil}
	toFilter    = filter{"to", "toDate", "latest `TIME`, likewise", timeFilter, nil}
	hostFilters = []filter{
		{"host", "host", "`HOST` of the destination", textFilter, nil},
		{"path", "path", "`PATH` of the destination", textFilter, nil},
	}
	messageFilter = filter{"message", "messageId", "`ID` of a message", textFilter, nil}
	orderFilter   = filter{"order", "order", "`ORDER` of the list", textFilter, nil}.among(orders)
	stateFilter   = filter{"state", "state", "`STATE` of the last event", textFilter, nil}.among(messageStates)
)

// choicesKey is the annotation of a flag with the words that it takes, for completion.
const choicesKey = "choices"

// filters are the values of some filters.
type filters struct {
	known    []filter
	texts    map[string]*[]string
	switches map[string]*bool
}

func (fi *filters) flags(f *pflag.FlagSet, lists ...[]filter) {
	fi.texts, fi.switches = map[string]*[]string{}, map[string]*bool{}
	for _, list := range lists {
		for _, one := range list {
			fi.known = append(fi.known, one)
			if one.kind == switchFilter {
				fi.switches[one.flag] = f.Bool(one.flag, false, one.usage)
			} else {
				fi.texts[one.flag] = f.StringArray(one.flag, nil, one.usage)
				if len(one.choices) > 0 {
					_ = f.SetAnnotation(one.flag, choicesKey, one.choices) // fails for a flag that is not there
				}
			}
		}
	}
}

// query returns the given filters as parameters of the API.
func (fi *filters) query(now time.Time) (url.Values, error) {
	q := url.Values{}
	for _, one := range fi.known {
		if one.kind == switchFilter {
			if *fi.switches[one.flag] {
				q.Set(one.parameter, "true")
			}
			continue
		}
		for _, text := range *fi.texts[one.flag] {
			if text == "" {
				return nil, Usagef("--%s is empty: an empty filter would select everything", one.flag)
			}
			if one.kind == timeFilter {
				ms, err := readTime(text, now)
				if err != nil {
					return nil, Usagef("--%s: %w", one.flag, err)
				}
				text = strconv.FormatInt(ms, 10)
			}
			if len(one.choices) > 0 {
				if err := checkChoice(one.flag, text, one.choices); err != nil {
					return nil, err
				}
			}
			q.Add(one.parameter, text)
		}
	}
	return q, nil
}

// readTime reads a time as unix milliseconds.
func readTime(text string, now time.Time) (int64, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 {
		return n, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d).UnixMilli(), nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UnixMilli(), nil
		}
	}
	return 0, Usagef("%q is not a time: give 2026-11-22T10:00:00Z, unix milliseconds, or a duration ago such as 90m", text)
}
