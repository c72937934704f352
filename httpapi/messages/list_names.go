package messages

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// maxNames is the most elements of a page of a list in the order of names, and of one read.
const maxNames = 1000

// cursorHeaders have the cursor of the page that follows, of lists that are answered as an array. The last page has none.
var cursorHeaders = []string{"Svc-Cursor", "Upstash-Cursor"}

// The parameters of a page, of lists that are answered as an array.
const (
	countParameter  = "count"
	cursorParameter = "cursor"
)

// namePage reads the page that a request asks for; whole if it asks for none, but for the whole list.
func namePage(values url.Values) (p queue.NamePage, whole bool, err error) {
	p.Limit = maxNames
	if text := values.Get(countParameter); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return p, false, Invalid("invalid count %q: a number from 1 is wanted", text)
		}
		p.Limit = min(n, maxNames)
	}
	if text := values.Get(cursorParameter); text != "" {
		name, err := base64.RawURLEncoding.DecodeString(text)
		if err != nil || len(name) == 0 {
			return p, false, Invalid("invalid cursor %q", text)
		}
		p.After = string(name)
	}
	return p, !values.Has(countParameter) && !values.Has(cursorParameter), nil
}

// answerAll is AnswerAll for a list by names, any of which may be that of a cursor.
func answerAll[E, T any](re *request, values url.Values, list func(*fsm.View, queue.NamePage) queue.NameList[E], show func(*fsm.View, *E) T) error {
	return AnswerAll(re.API, re.w, re.r, values, func(string) bool { return true }, list, show)
}

// AnswerAll answers with the elements that list returns, each as show renders it: with the page that the request asks for, or, if it asks
// for none, with all of them. These are read a page at a time, so that no read is long, and are sent as they are read. A cursor with a name
// that is not valid is refused.
func AnswerAll[E, T any](a *API, w http.ResponseWriter, r *http.Request, values url.Values, valid func(name string) bool,
	list func(*fsm.View, queue.NamePage) queue.NameList[E], show func(*fsm.View, *E) T) error {
	page, whole, err := namePage(values)
	if err == nil && page.After != "" && !valid(page.After) {
		err = Invalid("invalid cursor %q", values.Get(cursorParameter))
	}
	if err != nil {
		return err
	}
	re := &request{API: a, w: w, r: r}
	for begun := false; ; begun = true {
		all, more, last := []T{}, false, ""
		_, err := re.Engine.Read(re.r.Context(), fsm.Reading{Long: true}, func(v *fsm.View) {
			all = all[:0]
			got := list(v, page)
			for i := range got.Elements {
				all = append(all, show(v, &got.Elements[i]))
			}
			more, last = got.More, got.Last
		})
		switch {
		case err != nil && begun:
			panic(http.ErrAbortHandler) // the client sees that the list is not whole
		case err != nil:
			return err
		case !begun && (!whole || !more):
			if more {
				for _, name := range cursorHeaders {
					re.w.Header()[name] = []string{base64.RawURLEncoding.EncodeToString([]byte(last))}
				}
			}
			re.answer(http.StatusOK, all)
			return nil
		}
		if err := re.sendElements(all, begun, more); err != nil || !more {
			return err
		}
		page.After = last
	}
}

// sendElements sends some elements of an array: the first ones unless it has begun, and the last ones unless there are more.
func (re *request) sendElements(all any, begun, more bool) error {
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	text = text[1 : len(text)-1]
	switch {
	case !begun:
		re.w.Header()["Content-Type"] = []string{"application/json"}
		re.w.WriteHeader(http.StatusOK)
		text = append([]byte{'['}, text...)
	case len(text) > 0:
		text = append([]byte{','}, text...)
	}
	if !more {
		text = append(text, ']')
	}
	re.w.Write(text)
	return nil
}
