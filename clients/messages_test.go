package clients_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/clients"
	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

// languageModel is the provider of api/llm that the program expects.
func languageModel(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // a request cut short is no JSON
	var asked struct{ Stream bool }
	if err := json.Unmarshal(body, &asked); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if asked.Stream {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: {\"n\":1}\n\ndata: {\"n\":2}\n\ndata: [DONE]\n\n")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, `{"choices":[],"asked":`+string(body)+`}`)
}

// The client of messages runs against three real nodes, of which the leader delivers.
// Every reply that it gets is held against the description.
func TestMessagesClient(t *testing.T) {
	install(t)
	model := httptest.NewServer(http.HandlerFunc(languageModel))
	t.Cleanup(model.Close)
	nodes := httpapitest.ServeDelivering(t, 3, "", func(o *httpapi.Options) { o.Messages.APIs = map[string]string{"llm": model.URL} })
	description, err := httpapitest.ReadDescription("../httpapi/messages/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	urls := make([]string, len(nodes.Addrs))
	for i, addr := range nodes.Addrs {
		urls[i] = httpapitest.Watch(t, description, addr)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	if output, err := clients.Messages(ctx, urls, httpapitest.MessagesToken); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
}
