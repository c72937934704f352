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

// A filter is a flag that selects, with the parameter of the API that it sets.
type filter struct {
	flag, parameter, usage string
	kind                   filterKind
}

// common are the filters of messages, dead letters and events.
var common = []filter{
	{"destination", "url", "destination `URL`", textFilter},
	{"group", "topicName", "`NAME` of a URL group", textFilter},
	{"queue", "queueName", "`NAME` of a queue", textFilter},
	{"schedule", "scheduleId", "`ID` of a schedule", textFilter},
	{"label", "label", "`LABEL`", textFilter},
	{"flow-control-key", "flowControlKey", "flow-control `KEY`", textFilter},
	{"caller-ip", "callerIp", "`ADDRESS` of the publisher", textFilter},
	fromFilter, toFilter,
}

var (
	fromFilter  = filter{"from", "fromDate", "earliest `TIME`: RFC 3339, unix milliseconds, or a duration ago such as 90m", timeFilter}
	toFilter    = filter{"to", "toDate", "latest `TIME`, likewise", timeFilter}
	hostFilters = []filter{
		{"host", "host", "`HOST` of the destination", textFilter},
		{"path", "path", "`PATH` of the destination", textFilter},
	}
	messageFilter = filter{"message", "messageId", "`ID` of a message", textFilter}
	orderFilter   = filter{"order", "order", "`ORDER`: earliestFirst or latestFirst", textFilter}
	stateFilter   = filter{"state", "state", "`STATE` of the event, such as DELIVERED", textFilter}
)

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
