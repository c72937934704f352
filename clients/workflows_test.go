package clients_test

import (
	"context"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/clients"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

// The client of workflows runs, in an app of ours, against three real nodes: its newest
// release and the last one of 0.2.
func TestWorkflowsClient(t *testing.T) {
	install(t)
	urls := nodeURLs(httpapitest.ServeDelivering(t, 3, "", nil))
	for name, old := range map[string]bool{"newest": false, "0.2": true} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
			defer cancel()
			if output, err := clients.Workflows(ctx, urls, httpapitest.MessagesToken, old); err != nil {
				t.Fatalf("%v\n%s", err, output)
			}
		})
	}
}

func nodeURLs(nodes *httpapitest.Nodes) (urls []string) {
	for _, addr := range nodes.Addrs {
		urls = append(urls, "http://"+addr)
	}
	return urls
}
