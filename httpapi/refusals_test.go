package httpapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/httpapi"
)

// TestRefusalsNameWhatIsWrong: which message of a batch, which limit, and in the words of JSON, not of this program.
func TestRefusalsNameWhatIsWrong(t *testing.T) {
	m := startMail(t, func(o *httpapi.Options) { o.MaxRequestSize = 5000 })
	const ok = `{"destination":"https://example.com","headers":{"Svc-Delay":"1h"}}`
	step := func(n string) string {
		return `{"destination":"https://example.com","headers":{"Svc-Workflow-RunId":"wfr_none","Svc-Workflow-Init":"false"},"body":"{\"stepId\":` + n + `}"}`
	}
	for _, c := range []struct {
		status     int
		text       string
		path, body string
		header     []string
	}{
		{400, "message 1 of the batch: invalid retries: use an integer of 0 or more", "/v2/batch", "[" + ok + `,{"destination":"https://example.com","headers":{"Svc-Retries":"x"}}]`, nil},
		{400, "message 2 of the batch: a non-empty destination must be provided", "/v2/batch", "[" + ok + "," + ok + `,{"destination":""}]`, nil},
		{400, "message 1 of the batch: destination: expected a string, got number at byte 16", "/v2/batch", "[" + ok + `,{"destination":5}]`, nil},
		{413, "message 1 of the batch: the body is larger than 5000 bytes (--max-request-size)", "/v2/batch", "[" + ok + `,{"destination":"https://example.com","body":"` + strings.Repeat("b", 5001) + `"}]`, nil},
		{400, "message 1 of the batch: workflow run wfr_none is over or not known", "/v2/batch", "[" + ok + "," + step("1") + "," + step("2") + "]", nil},
		{412, "message 2 of the batch: invalid workflow step: stepId: expected a number, got string at byte 13", "/v2/batch", "[" + ok + "," + step("1") + "," + step(`\"a\"`) + "]", nil},
		{400, "invalid batch: expected a JSON array of messages: expected an array, got object at byte 1", "/v2/batch", ok, nil},
		{400, "message 0 of the batch: headers: expected an array, got number at byte 1", "/v2/batch", `[{"destination":"https://example.com","headers":{"a":7}}]`, nil},
		{400, "message 0 of the batch: body: expected a string, got number at byte 9", "/v2/batch/trigger", `[{"body":1}]`, nil},
		{400, "invalid queue: parallelism: expected an integer, got string at byte 18", "/v2/queues", `{"parallelism":"4"}`, nil},
		{413, "the body is larger than 5000 bytes (--max-request-size)", "/v2/publish/https://example.com", strings.Repeat("b", 5001), nil},
		{400, "invalid not-before: use a Unix time in seconds: this one is later than the year 9999, it seems to be in milliseconds", "/v2/publish/https://example.com", "", []string{"Svc-Not-Before", "1790000000000"}},
	} {
		m.want(c.status, fmt.Sprintf(`{"error":%q}`, c.text), "POST", c.path, c.body, c.header...)
	}
}

// TestUnknownServiceHeadersAreNamed: they are ignored, and the answer says so.
func TestUnknownServiceHeadersAreNamed(t *testing.T) {
	m := startMail(t)
	warns := func(want string) {
		t.Helper()
		if got := m.header.Get("Svc-Warning"); got != want {
			t.Errorf("Svc-Warning: %q, want %q", got, want)
		}
	}
	const unknown = "ignored headers that are not known: "
	m.want(200, "", "POST", "/v2/publish/https://example.com?upstash-dely=1s", "", "Upstash-Retrys", "1", "Svc-Delay", "1h", "Svc-Callback", "https://example.com/c", "Svc-Callback-Methd", "GET")
	warns(unknown + "callback-methd, dely, retrys")
	m.want(200, "", "POST", "/v2/publish/https://example.com", "", "Upstash-Retries", "1", "Svc-Delay", "1h", "Svc-Telemetry-Sdk", "x", "Svc-Forward-Anything", "x", "X-Mine", "x",
		"Svc-Callback", "https://example.com/c", "Svc-Callback-Forward-A", "b", "Svc-Failure-Callback-Workflow-RunId", "r", "Upstash-Signature", "s")
	warns("")
	m.want(200, "", "POST", "/v2/batch", `[{"destination":"https://example.com","headers":{"Svc-Delay":"1h","Svc-Bad\r\nname":"x"}},{"destination":"https://example.com","headers":{"Svc-Delay":"1h","svc-lable":"x"}}]`)
	warns(unknown + "bad??name, lable")
	m.want(200, "", "DELETE", "/v2/queues/none", "")
}
