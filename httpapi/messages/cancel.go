package messages

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"trireme/fsm"
	"trireme/fsm/queue"
)

// maxCancel is the largest count of a bulk cancellation.
const maxCancel = 500

func (q *request) cancelOne(text string) error {
	id, ok := queue.ParseID(text)
	if !ok {
		return noMessage(text)
	}
	if _, err := fsm.Do(q.r.Context(), q.Engine, fsm.CancelMessages, queue.Cancellation{IDs: []queue.ID{id}, Strict: true}); err != nil {
		return err
	}
	q.answer(http.StatusOK, map[string]int{"cancelled": 1})
	return nil
}

// cancelMany cancels what the query string or a JSON body selects, or everything if they
// select nothing.
func (q *request) cancelMany() error {
	body, err := q.body(q.MaxBody)
	if err != nil {
		return err
	}
	chosen, err := readSelection(q.query, body)
	if err != nil {
		return err
	}
	n := queue.Cancellation{IDs: chosen.ids, Filter: chosen.filter, Limit: chosen.count}
	if chosen.none {
		q.answer(http.StatusOK, map[string]int{"cancelled": 0})
		return nil
	}
	total := 0
	for {
		out, err := fsm.Do(q.r.Context(), q.Engine, fsm.CancelMessages, n)
		if err != nil {
			return err
		}
		total += out.Count
		if !out.More || n.Limit > 0 && out.Count >= n.Limit {
			break
		}
		n.After = out.Last
		if n.Limit > 0 {
			n.Limit -= out.Count
		}
	}
	q.answer(http.StatusOK, map[string]int{"cancelled": total})
	return nil
}

// selection is what a bulk request chooses.
type selection struct {
	ids    []queue.ID
	filter queue.Filter
	count  int
	// none: there were ids, but not one of them is that of a message.
	none bool
}

// readSelection reads filters of a query string and of a JSON body. An unknown name is
// refused: a mistyped filter must never mean everything.
func readSelection(query string, body []byte) (s selection, err error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return s, invalid("invalid query: %s", err)
	}
	delete(values, tokenParameter)
	if err := readBody(body, values); err != nil {
		return s, err
	}
	named := false
	for name, list := range values {
		switch name {
		case "messageIds":
			for _, text := range split(list) {
				named = true
				if id, ok := queue.ParseID(text); ok {
					s.ids = append(s.ids, id)
				}
			}
		case "count":
			n, err := strconv.Atoi(one(list))
			if err != nil || n < 1 || n > maxCancel {
				return s, invalid("invalid count %q: 1 to %d is wanted", one(list), maxCancel)
			}
			s.count = n
		default:
			if err := readFilter(&s.filter, name, list); err != nil {
				return s, err
			}
		}
	}
	s.none = named && len(s.ids) == 0
	return s, nil
}

// readBody adds the members of a JSON object to values.
func readBody(body []byte, values url.Values) error {
	if len(body) == 0 {
		return nil
	}
	var members map[string]any
	if err := json.Unmarshal(body, &members); err != nil {
		return invalid("invalid body: a JSON object is wanted: %s", err)
	}
	for name, v := range members {
		list, ok := v.([]any)
		if !ok {
			list = []any{v}
		}
		values[name] = append([]string{}, values[name]...) // an empty list is a list
		for _, one := range list {
			switch one := one.(type) {
			case string:
				values.Add(name, one)
			case float64:
				values.Add(name, strconv.FormatFloat(one, 'f', -1, 64))
			default:
				return invalid("invalid %s: texts or numbers are wanted", name)
			}
		}
	}
	return nil
}

// readFilter reads one filter by its name on the wire.
func readFilter(f *queue.Filter, name string, list []string) (err error) {
	texts := map[string]*[]string{
		"topicName": &f.Groups, "queueName": &f.Queues, "host": &f.Hosts, "path": &f.Paths, "label": &f.Labels,
		"flowControlKey": &f.FlowKeys, "scheduleId": &f.Schedules, "callerIp": &f.CallerIPs, "callerIP": &f.CallerIPs,
	}
	switch {
	case texts[name] != nil:
		*texts[name] = append(*texts[name], split(list)...)
	case name == "url": // may hold commas
		f.URLs = append(f.URLs, list...)
	case name == "fromDate":
		f.From, err = readMillis(name, one(list))
	case name == "toDate":
		f.To, err = readMillis(name, one(list))
	default:
		return invalid("unknown filter %q", name)
	}
	return err
}

func readMillis(name, text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, invalid("invalid %s %q: unix milliseconds are wanted", name, text)
	}
	return n, nil
}

// split parts values at commas.
func split(list []string) (all []string) {
	for _, value := range list {
		for one := range strings.SplitSeq(value, ",") {
			if one = strings.TrimSpace(one); one != "" {
				all = append(all, one)
			}
		}
	}
	return all
}
