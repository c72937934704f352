package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/gin-gonic/gin"

	"github.com/trireme-dev/trireme/httpapi/jsonbody"
)

// maxAdminBody is the most bytes of a body under /admin.
const maxAdminBody = 64 << 10

// accept reads a JSON object; an empty body is an empty object. Once it is read, the audit log may show it.
func (s *Server) accept(g *gin.Context, v any) bool {
	var text bytes.Buffer
	g.Request.Body = struct {
		io.Reader
		io.Closer
	}{io.TeeReader(g.Request.Body, &text), g.Request.Body}
	var refused *jsonbody.Error
	if errors.As(jsonbody.Read(g.Writer, g.Request, maxAdminBody, v), &refused) {
		s.refuseOps(g, refused.Status, "ERR "+refused.Text)
		return false
	}
	g.Set(detailKey, bodyDetail(text.Bytes()))
	return true
}

// maxDetail is the most bytes of a body that a record shows.
const maxDetail = 1000

// detailKey is the name under which accept leaves what a record shows of the body.
const detailKey = "audit.detail"

// shownMembers are the members of bodies under /admin whose texts records show: names of databases and nodes, and a policy. Any
// other text may be a secret.
var shownMembers = map[string]bool{"name": true, "to": true, "with": true, "maxMemoryPolicy": true}

// bodyDetail returns what a record shows of a body that a handler has accepted: short JSON, whose texts are hidden except
// those of shownMembers. A body that was refused is not shown, because it may contain anything.
func bodyDetail(body []byte) string {
	var members map[string]any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if len(body) > maxDetail || d.Decode(&members) != nil {
		return ""
	}
	for name, value := range members {
		if !shownMembers[name] {
			members[name] = hideTexts(value)
		}
	}
	text, _ := json.Marshal(members) // which has been read from JSON
	return string(text)
}

// hideTexts returns a value without its texts. Lists and objects are hidden completely.
func hideTexts(value any) any {
	switch value.(type) {
	case nil, bool, json.Number:
		return value
	}
	return "(hidden)"
}
