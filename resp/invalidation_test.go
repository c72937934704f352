package resp_test

import (
	"testing"

	"github.com/trireme-dev/trireme/resp/resptest"
)

// TestInvalidations holds the conversation of testdata/invalidation.txt with redis-server;
// TestConversations holds it with a node.
func TestInvalidations(t *testing.T) {
	addr := resptest.RedisServer(t, "--requirepass", resptest.Token)
	resptest.Converse(t, addr, "testdata/invalidation.txt", nil)
}
