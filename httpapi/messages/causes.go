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
	// CausesLooked is the number of dead letters that one page of causes looks at.
	CausesLooked = 1000
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
	causes := Causes{}
	query.page.Limit = CausesLooked
	cursor, err := ReadPage(re.r.Context(), re.Engine, query.page, func(v *fsm.View, page queue.Page) ([]queue.DeadInfo, queue.Stamp, bool) {
		page.Limit = min(page.Limit, queue.MaxDeadPage) // each is read with its body
		return v.Messages().DeadLetters(query.dead, &query.filter, page)
	}, func(_ *fsm.View, d *queue.DeadInfo) (queue.Stamp, int) {
		causes.Add(d.Message.Content.Host(), &d.Response, d.Error, d.Stamp)
		if len(query.dead) > 0 { // what is named has no pages
			return d.Stamp, 0
		}
		return d.Stamp, d.Response.BodySize()
	})
	if err != nil {
		return err
	}
	re.answer(http.StatusOK, causes.Page(cursor))
	return nil
}

// Causes counts failures by what they have in common.
type Causes map[causeKey]*cause

// CausePage is a page of causes, the most frequent first.
type CausePage struct {
	Cursor string   `json:"cursor,omitempty"`
	Groups []*cause `json:"groups"`
}

// Page returns the causes with the cursor of those that were not looked at.
func (ca Causes) Page(cursor string) *CausePage {
	page := &CausePage{cursor, make([]*cause, 0, len(ca))}
	for _, c := range ca { // unordered: sorted below
		page.Groups = append(page.Groups, c)
	}
	slices.SortFunc(page.Groups, func(a, b *cause) int {
		return cmp.Or(-cmp.Compare(a.Count, b.Count), -cmp.Compare(a.Newest, b.Newest), cmp.Compare(a.DlqID, b.DlqID))
	})
	return page
}

// Add counts the failure of a dead letter: its host, the answer, and the reason if there was none.
func (ca Causes) Add(host string, answer *queue.Response, failure string, id queue.Stamp) {
	key := causeKey{host, answer.Status, causeOf(answer, failure)}
	c := ca[key]
	if c == nil {
		c = &cause{Host: key.host, Status: key.status, Text: key.text, Oldest: id.At, Newest: id.At, DlqID: id.String()}
		ca[key] = c
	}
	c.Count++
	c.Oldest = min(c.Oldest, id.At)
	if id.At >= c.Newest {
		c.Newest, c.DlqID = id.At, id.String()
	}
}

// causeOf says in a line why a message or a run has failed.
func causeOf(answer *queue.Response, text string) string {
	if text == "" {
		text = firstLine(answer.Body)
	}
	if text == "" {
		text = http.StatusText(answer.Status)
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
