package messages

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
)

const (
	// causesLooked is the number of dead letters that one page of causes looks at.
	causesLooked = 1000
	// causeText is the most bytes of a cause.
	causeText = 200
	// causeJSON is the length in bytes up to which an answer is read as JSON for its cause.
	causeJSON = 16 << 10
)

// causeKey is what dead letters of one cause have in common.
type causeKey struct {
	host   string
	status int
	text   string
}

// cause counts the dead letters that failed alike.
type cause struct {
	Count int `json:"count"`
	// Host is that of the destination; Status is 0 if there was no answer.
	Host   string `json:"host"`
	Status int    `json:"responseStatus"`
	// Text is the error, or the first line of the answer, without what differs from one to the next.
	Text string `json:"text"`
	// Oldest and Newest are times of failures in unix milliseconds; DlqID is the newest dead letter.
	Oldest int64  `json:"oldest"`
	Newest int64  `json:"newest"`
	DlqID  string `json:"dlqId"`
}

// listCauses answers the causes of a page of dead letters, the most frequent first.
func (re *request) listCauses(query *listQuery) error {
	causes := map[causeKey]*cause{}
	query.page.Limit = causesLooked
	cursor, err := ReadPage(re.r.Context(), re.Engine, query.page, func(v *fsm.View, page queue.Page) ([]queue.DeadInfo, queue.Stamp, bool) {
		page.Limit = min(page.Limit, queue.MaxDeadPage) // each is read with its body
		return v.Messages().DeadLetters(query.dead, &query.filter, page)
	}, func(_ *fsm.View, d *queue.DeadInfo) (queue.Stamp, int) {
		add(causes, d)
		if len(query.dead) > 0 { // what is named has no pages
			return d.Stamp, 0
		}
		return d.Stamp, d.Response.BodySize()
	})
	if err != nil {
		return err
	}
	list := make([]*cause, 0, len(causes))
	for _, c := range causes { // unordered: sorted below
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b *cause) int {
		return cmp.Or(-cmp.Compare(a.Count, b.Count), -cmp.Compare(a.Newest, b.Newest), cmp.Compare(a.DlqID, b.DlqID))
	})
	re.answer(http.StatusOK, struct {
		Cursor string   `json:"cursor,omitempty"`
		Groups []*cause `json:"groups"`
	}{cursor, list})
	return nil
}

func add(causes map[causeKey]*cause, d *queue.DeadInfo) {
	key := causeKey{d.Message.Content.Host(), d.Response.Status, causeOf(d)}
	c := causes[key]
	if c == nil {
		c = &cause{Host: key.host, Status: key.status, Text: key.text, Oldest: d.At, Newest: d.At, DlqID: d.Stamp.String()}
		causes[key] = c
	}
	c.Count++
	c.Oldest = min(c.Oldest, d.At)
	if d.At >= c.Newest {
		c.Newest, c.DlqID = d.At, d.Stamp.String()
	}
}

// causeOf says in a line why a message has failed.
func causeOf(d *queue.DeadInfo) string {
	text := d.Error
	if text == "" {
		text = firstLine(d.Response.Body)
	}
	if text == "" {
		text = http.StatusText(d.Response.Status)
	}
	return alike(text)
}

// firstLine is the message of an answer in JSON, or the first line of another with something in it.
func firstLine(body []byte) string {
	if len(body) <= causeJSON {
		var answer map[string]json.RawMessage
		if json.Unmarshal(body, &answer) == nil {
			for _, name := range []string{"message", "error", "detail", "title"} {
				if text := said(answer[name]); text != "" {
					return text
				}
			}
		}
	}
	body = body[:min(len(body), causeJSON)]
	for line := range strings.Lines(string(body)) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

// said is a text in JSON, or the message of an object.
func said(raw json.RawMessage) (text string) {
	var inner struct{ Message string }
	if json.Unmarshal(raw, &text) != nil && json.Unmarshal(raw, &inner) == nil {
		text = inner.Message
	}
	return strings.TrimSpace(text)
}

// alike leaves out of a text what differs between failures of one cause: a number, and a word that has digits in it and is as long as an
// id, becomes #. The text ends after causeText bytes.
func alike(text string) string {
	const shortestID = 8
	var b strings.Builder
	text = strings.ToValidUTF8(text, "\uFFFD")
	for len(text) > 0 && b.Len() < causeText {
		end := strings.IndexFunc(text, func(r rune) bool { return !inWord(r) })
		if end < 0 {
			end = len(text)
		}
		switch word := text[:end]; {
		case end == 0:
			_, end = utf8.DecodeRuneInString(text)
			b.WriteString(text[:end])
		case !strings.ContainsAny(word, "0123456789"):
			b.WriteString(word)
		case end >= shortestID || strings.Trim(word, "0123456789") == "":
			b.WriteByte('#')
		default:
			b.WriteString(word)
		}
		text = text[end:]
	}
	out := b.String()
	if len(out) > causeText {
		out = strings.ToValidUTF8(out[:causeText], "")
	}
	return strings.TrimSpace(out)
}

// inWord reports whether a rune may be in an id.
func inWord(r rune) bool {
	return r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
