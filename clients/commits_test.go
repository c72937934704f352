package clients_test

import (
	"context"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/clients"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

// Steps of the published client of workflows, and answers of a destination, commit commands by the helper of ten lines.
func TestCommitsOfTheWorkflowsClient(t *testing.T) {
	install(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	urls := nodeURLs(httpapitest.ServeDelivering(t, 3, "", nil))
	if output, err := clients.Commits(ctx, urls, httpapitest.MessagesToken, httpapitest.Token); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
}

// A workflow of the published client sets its state by the helper, and gets updates and an event that came before its waits.
func TestStatesOfTheWorkflowsClient(t *testing.T) {
	install(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	urls := nodeURLs(httpapitest.ServeDelivering(t, 3, "", nil))
	if output, err := clients.States(ctx, urls, httpapitest.MessagesToken, httpapitest.Token); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
}

// A workflow of the published client stays on the deployment that its trigger names, until it is moved: its steps, waits, invoked runs and
// failure function.
func TestDeploymentsOfTheWorkflowsClient(t *testing.T) {
	install(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	urls := nodeURLs(httpapitest.ServeDelivering(t, 3, "", nil))
	if output, err := clients.Deployments(ctx, urls, httpapitest.MessagesToken); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
}
