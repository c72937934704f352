package workflows

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/httpapi/view"
)

// maxCurlBody is the longest body that a curl line spells out, in bytes; above it the
// endpoint is left to fetch the log.
const maxCurlBody = 16 << 10

// target returns the URL to which an entry is delivered.
func (e *explainer) target(at *workflow.Entry) string {
	if at.URL != "" {
		return at.URL
	}
	return e.store.Target(e.run)
}

// curl returns a line that repeats the delivery of an entry by hand, without a signature. What the endpoint then
// submits is recorded at most once, as with any delivery. Values that logs redact are redacted here too.
func (e *explainer) curl(at *workflow.Entry) string {
	if at.Kind == workflow.CallEntry {
		return e.curlCall(at)
	}
	own := []queue.Field(nil)
	if at.Own != nil {
		own = at.Own.Header
	}
	header := view.Redactor{Hide: e.run.Redact, Trim: -1}.Header(e.run.Header, own)
	if header == nil {
		header = map[string][]string{}
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Upstash-Workflow-Runid": e.run.ID, "Upstash-Workflow-Createdat": strconv.FormatInt(e.run.Created, 10),
		"Upstash-Workflow-Url": e.run.URL, "Upstash-Workflow-Init": "false", "Upstash-Workflow-Calltype": at.Kind.String(),
		"Upstash-Message-Id": at.ID.String(), "Upstash-Retried": strconv.Itoa(int(at.Retried)),
	} {
		header[name] = []string{value}
	}
	if at.Kind == workflow.StepEntry {
		header["Upstash-Workflow-Sdk-Version"] = []string{protocolVersion}
	} else {
		delete(header, "Upstash-Workflow-Sdk-Version")
	}
	return curlLine("POST", e.target(at), header, e.prefix(at))
}

func (e *explainer) curlCall(at *workflow.Entry) string {
	method, show := "POST", view.Redactor{Hide: e.run.Redact, Trim: -1}
	var header map[string][]string
	if at.Own != nil {
		header = show.Header(at.Own.Header)
		if at.Own.Method != "" {
			method = at.Own.Method
		}
	}
	return curlLine(method, at.URL, header, show.Text(at.Body.Bytes()))
}

// prefix returns the body of the delivery of an entry, empty if it is too long, or not to be
// seen.
func (e *explainer) prefix(at *workflow.Entry) string {
	if at.Kind != workflow.StepEntry || e.run.Redact != nil && e.run.Redact.Body {
		return ""
	}
	type element struct {
		MessageID string `json:"messageId"`
		Body      string `json:"body"`
		CallType  string `json:"callType"`
	}
	var list []element
	size := 0
	e.store.Log(e.run.No, func(_ uint32, n *workflow.Entry) bool {
		size += base64.StdEncoding.EncodedLen(n.Body.Len()) + 96
		if n.Kind == workflow.StepEntry && size <= maxCurlBody {
			list = append(list, element{n.ID.String(), base64.StdEncoding.EncodeToString(n.Body.Bytes()), n.Kind.String()})
		}
		return n.ID != at.ID && size <= maxCurlBody
	})
	if size > maxCurlBody {
		return ""
	}
	text, _ := json.Marshal(list) // texts always have a form
	return string(text)
}

// ask returns a curl line that asks this server; the shell's variable has the token.
func (e *explainer) ask(method, path, body string) string {
	return curlLine(method, e.origin+path, map[string][]string{"Authorization": {"Bearer $QSTASH_TOKEN"}}, body)
}

// curlLine returns a line for a POSIX shell. Everything is quoted, except the variable with
// the token.
func curlLine(method, target string, header map[string][]string, body string) string {
	line := []string{"curl", "-sS", "-X", quote(method), quote(target)}
	names := make([]string, 0, len(header))
	for name := range header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range header[name] {
			if value == "Bearer $QSTASH_TOKEN" {
				line = append(line, "-H", `"`+name+": "+value+`"`)
				continue
			}
			line = append(line, "-H", quote(name+": "+value))
		}
	}
	if body != "" || method == "POST" {
		line = append(line, "--data-binary", quote(body))
	}
	return strings.Join(line, " ")
}

// quote returns a text as one word of a shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func pathEscape(segment string) string { return url.PathEscape(segment) }
