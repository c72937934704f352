package messages

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/httpapi/jsonbody"
)

func (re *request) cancelOne(text string) error {
	id, ok := queue.ParseID(text)
	if !ok {
		return noMessage(text)
	}
	if _, err := fsm.Do(re.r.Context(), re.Engine, fsm.CancelMessages, queue.Cancellation{IDs: []queue.ID{id}, Strict: true}); err != nil {
		return err
	}
	re.answer(http.StatusAccepted, bulkCancelled{Cancelled: 1})
	return nil
}

// cancelMany cancels what the query string or a JSON body selects, or everything if they
// select nothing.
func (re *request) cancelMany() error {
	body, err := re.json(re.MaxBody, jsonbody.Bounds{Values: jsonbody.MaxSelected})
	if err != nil {
		return err
	}
	query, err := readCancelQuery(re.Query, body)
	if err != nil {
		return err
	}
	switch {
	case query.none:
		re.answer(http.StatusAccepted, bulkCancelled{})
		return nil
	case len(query.filter.IDs) == 0:
		return re.StartBulk(re.w, re.r, re.bulkOf(&query.filter), query.async)
	}
	n := queue.Cancellation{IDs: query.filter.IDs, Filter: query.filter}
	n.Filter.IDs = nil
	total := 0
	for more := true; more; {
		out, err := fsm.Do(re.r.Context(), re.Engine, fsm.CancelMessages, n)
		if err != nil {
			return err
		}
		total += out.Count
		n.After, more = out.Last, out.More
	}
	re.answer(http.StatusAccepted, bulkCancelled{Cancelled: total})
	return nil
}

// readCancelQuery reads which messages a query string and a JSON body select.
func readCancelQuery(query string, body []byte) (c listQuery, err error) {
	values, err := queryValues(query)
	if err != nil {
		return c, err
	}
	if err := readBody(body, values); err != nil {
		return c, err
	}
	return c, c.read(values, inCancel)
}

// readBody adds the members of a JSON object to values.
func readBody(body []byte, values url.Values) error {
	if len(body) == 0 {
		return nil
	}
	var members map[string]any
	if err := json.Unmarshal(body, &members); err != nil {
		return Invalid("invalid body: expected a JSON object: %s", jsonbody.Fault(err))
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
			case bool:
				values.Add(name, strconv.FormatBool(one))
			case float64:
				values.Add(name, strconv.FormatFloat(one, 'f', -1, 64))
			default:
				return Invalid("invalid %s: texts or numbers are wanted", name)
			}
		}
	}
	return nil
}

func readMillis(name, text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, Invalid("invalid %s %q: unix milliseconds are wanted", name, text)
	}
	return n, nil
}
