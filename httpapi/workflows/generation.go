package workflows

import (
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/httpapi/messages"
)

// sdkName is the name of the published client for JavaScript in a telemetry header; its version follows.
const sdkName = "@upstash/workflow@v"

// singletonSDK is the first release of that client which expects a refusal when it starts a run whose id is taken by a run
// that lives. Earlier releases, and the clients for Python and Go, which don't name themselves, expect an answer that says
// deduplicated.
var singletonSDK = [2]int{1, 4}

// olderSDK reports whether a start was sent by a release of an SDK that knows no refusal of ids.
func olderSDK(h *messages.Headers) bool {
	for _, value := range h.Values("telemetry-sdk") {
		for one := range strings.SplitSeq(value, ",") {
			if version, ok := strings.CutPrefix(strings.TrimSpace(one), sdkName); ok {
				return olderThan(version, singletonSDK)
			}
		}
	}
	return true
}

// olderThan compares the first two numbers of a version such as 1.3.2 or 1.4.0-rc.1. A version that can't be read is not older.
func olderThan(version string, than [2]int) bool {
	parts := strings.SplitN(version, ".", 3)
	for i, limit := range than {
		if i >= len(parts) {
			return false
		}
		digits := strings.TrimRightFunc(parts[i], func(r rune) bool { return r < '0' || r > '9' })
		if n, err := strconv.Atoi(digits); err != nil || n != limit {
			return err == nil && n < limit
		}
	}
	return false
}

// createdAt returns the creation time of the run that a message is meant for, among runs of the same id. It is 0 if the
// message doesn't name it.
func createdAt(h *messages.Headers) int64 {
	created, err := strconv.ParseInt(h.Field("workflow-createdat"), 10, 64)
	if err != nil || created <= 0 {
		return 0
	}
	return created
}
