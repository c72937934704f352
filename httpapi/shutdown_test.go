package httpapi_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
	"github.com/trireme-dev/trireme/internal/testgate"
)

// A request under way when the node stops is answered; new connections are not taken.
func TestShutdownFinishesRequests(t *testing.T) {
	engine := httpapitest.New()
	s, addr, served := httpapitest.Start(t, httpapi.Options{Engine: engine})
	proceed := testgate.New(t)
	engine.BeforeRead(proceed.Wait)
	replied := make(chan string, 1)
	go func() {
		res, err := http.Post("http://"+addr+"/?_token="+httpapitest.Token, "", strings.NewReader(`["PING"]`))
		if err != nil {
			replied <- err.Error()
			return
		}
		defer res.Body.Close()
		body, _ := io.ReadAll(res.Body)
		replied <- string(body)
	}()
	proceed.Reached(1)
	stopped := make(chan error, 1)
	go func() { stopped <- s.Shutdown(context.Background()) }()
	if err := testgate.Receive(t, "the end of the server", served); err != nil {
		t.Errorf("serve: %v", err)
	}
	if c, err := net.Dial("tcp", addr); err == nil {
		c.Close()
		t.Error("a stopping node took a connection")
	}
	proceed.Open()
	if got := testgate.Receive(t, "the reply", replied); got != `{"result":"PONG"}` {
		t.Errorf("%s", got)
	}
	if err := testgate.Receive(t, "the end of the shutdown", stopped); err != nil {
		t.Errorf("shutdown: %v", err)
	}
}

// A request that does not end in time is cut off.
func TestShutdownEndsWithItsContext(t *testing.T) {
	engine := httpapitest.New()
	s, addr, served := httpapitest.Start(t, httpapi.Options{Engine: engine})
	proceed := testgate.New(t)
	engine.BeforeRead(proceed.Wait)
	replied := make(chan error, 1)
	go func() {
		res, err := http.Get("http://" + addr + "/ping?_token=" + httpapitest.Token)
		if err == nil {
			res.Body.Close()
		}
		replied <- err
	}()
	proceed.Reached(1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Shutdown(ctx); err == nil {
		t.Error("shutdown says that it ended in order")
	}
	if err := testgate.Receive(t, "the end of the request", replied); err == nil {
		t.Error("the request was answered")
	}
	proceed.Open()
	if err := testgate.Receive(t, "the end of the server", served); err != nil {
		t.Errorf("serve: %v", err)
	}
}
