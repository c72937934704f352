package workflows

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// mismatch is something that the endpoint and this server don't agree on.
type mismatch struct {
	// Code is a word for programs, Text says what is wrong and how to mend it.
	Code string `json:"code"`
	Text string `json:"text"`
}

// sdkHeader returns a header that SDKs put on their answers, in either spelling.
func sdkHeader(header []queue.Field, name string) string {
	for _, prefix := range []string{"Upstash-", "Svc-"} {
		if v := queue.Value(header, prefix+name); v != "" {
			return v
		}
	}
	return ""
}

// errorStep returns the step that an SDK says has thrown.
func errorStep(a *workflow.Attempt) string { return sdkHeader(a.Header, "Error-Step-Name") }

// protocolVersion is the version of the protocol that this server speaks and that SDKs name.
const protocolVersion = "1"

// mismatchRule is a rule by which an attempt that failed shows a mismatch; empty if it doesn't.
type mismatchRule struct {
	code string
	text func(*failedAttempt) string
}

// failedAttempt is an attempt that failed, with what an SDK says in the body of an error.
type failedAttempt struct {
	*workflow.Attempt
	url     string
	message string
}

func (fa *failedAttempt) from() string { return sdkHeader(fa.Header, "Workflow-Sdk-Version") }

// failsWith returns a rule about the error of an attempt that has no answer, or none of an SDK.
func failsWith(part, text string) func(*failedAttempt) string {
	return func(c *failedAttempt) string {
		if strings.Contains(c.Error, part) {
			return text
		}
		return ""
	}
}

// says returns a rule about the text of an SDK's error.
func says(part, text string) func(*failedAttempt) string {
	return func(c *failedAttempt) string {
		if strings.Contains(c.message, part) {
			return text
		}
		return ""
	}
}

// hasStatus returns a rule about statuses of answers that don't come from an SDK.
func hasStatus(text string, list ...int) func(*failedAttempt) string {
	return func(c *failedAttempt) string {
		for _, status := range list {
			if c.Status == status && c.from() == "" {
				return fmt.Sprintf(text, status)
			}
		}
		return ""
	}
}

var mismatchRules = []mismatchRule{
	{"egress", func(c *failedAttempt) string {
		if !strings.Contains(c.Error, "destination not allowed") {
			return ""
		}
		return "this server may not deliver to that address: " + c.Error + ". Allow its network by --egress-allow"
	}},
	{"unreachable", func(c *failedAttempt) string {
		if c.Status != 0 || strings.Contains(c.Error, "destination not allowed") {
			return ""
		}
		return "no answer from " + c.url + ": " + c.Error + ". The URL is the one that the run was triggered with; it has to be reachable from the nodes of this cluster"
	}},
	{"not-a-workflow", failsWith("non-workflow destination",
		"the destination has answered 2xx without Upstash-Workflow-Sdk-Version: it is no workflow route, or something in front of it answers instead")},
	{"old-sdk", failsWith("only usable with sdk versions",
		"the run was triggered by /v2/trigger, and the first answer names no SDK release (Upstash-Workflow-Sdk): use an SDK from 1.0 on, or trigger with its client")},
	{"signature", says("Failed to verify that the Workflow request comes from",
		"the endpoint has refused the signature: its signing keys are not those of GET /v2/keys (after two rotations old ones are void), or a proxy has changed the body")},
	{"code-changed", says("Incompatible step",
		"the code of the workflow no longer fits the steps that the run has recorded: restart the run, or bring back the code with which it began")},
	{"headers-lost", says("Couldn't get workflow id from header",
		"the request reached the SDK without its Upstash-Workflow-* headers: a proxy in front of the endpoint removes them")},
	{"callback-headers-lost", says("Missing info in callback message source header",
		"the answer to a context.call reached the SDK without its Upstash-Workflow-Step* headers: a proxy in front of the endpoint removes them")},
	{"token", says("unable to authenticate", "the SDK has called this server with a token that opens nothing here: look at QSTASH_TOKEN of the app")},
	{"returned-early", says("Failed to authenticate Workflow request",
		"the workflow function has returned before its first step, which the SDK takes for a refused authorization (status 400)")},
	{"unknown-name", func(c *failedAttempt) string {
		if c.Status != 404 || c.from() == "" {
			return ""
		}
		return "the route serves several workflows and none of the name that the URL ends with: " + c.url
	}},
	{"no-route", hasStatus("status %d, and not from a workflow SDK: the app has no route for POST at this URL", 404, 405)},
	{"guarded", hasStatus("status %d, and not from a workflow SDK: something in front of the app wants credentials; let /v2 deliveries pass, they are signed", 401, 403, 407)},
	{"redirect", func(c *failedAttempt) string {
		if c.Status < 300 || c.Status > 399 {
			return ""
		}
		return fmt.Sprintf("status %d: redirects are not followed; trigger the run with the URL itself (%s)", c.Status, queue.Value(c.Header, "Location"))
	}},
	{"gateway", hasStatus("status %d, and not from a workflow SDK: a proxy in front of the app could not reach it, or gave up waiting for it", 502, 503, 504)},
	{"not-from-sdk", func(c *failedAttempt) string {
		if c.Status < 400 || c.from() != "" || !strings.Contains(queue.Value(c.Header, "Content-Type"), "text/html") {
			return ""
		}
		return fmt.Sprintf("status %d with an HTML page: the answer is that of a framework or a proxy, not of a workflow SDK", c.Status)
	}},
	{"protocol-version", func(c *failedAttempt) string {
		if v := c.from(); v != "" && v != protocolVersion {
			return fmt.Sprintf("the endpoint speaks version %s of the workflow protocol, this server version %s", v, protocolVersion)
		}
		return ""
	}},
}

// mismatches names what is wrong between the endpoint and this server, as far as the last
// attempt of an entry shows it.
func (e *explainer) mismatches(at *workflow.Entry) (list []mismatch) {
	if e.out.Reason == "abandoned" {
		list = append(list, mismatch{"no-submission", "the app's SDK reported nothing to this server: QSTASH_URL of the app points elsewhere, " +
			"its submission was refused as of a run that is over, or the answer 2xx is not the SDK's"})
	}
	if at == nil || len(at.Errors) == 0 || at.State == workflow.Delivered {
		return list
	}
	c := &failedAttempt{Attempt: &at.Errors[len(at.Errors)-1], url: e.target(at)}
	var said struct{ Error, Message string } // a body whose error is no text is not an SDK's
	if json.Unmarshal(c.Body, &said) == nil {
		c.message = said.Message
	}
	for _, j := range mismatchRules {
		if at.Kind == workflow.CallEntry && j.code != "egress" { // a third party's answer need not be an SDK's
			continue
		}
		if text := j.text(c); text != "" {
			list = append(list, mismatch{j.code, text})
		}
	}
	return list
}
