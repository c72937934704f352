package network

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// hostVariable makes the test binary a web server in a namespace.
const hostVariable = "NETWORK_TEST_HOST"

func TestMain(m *testing.M) {
	if addr := os.Getenv(hostVariable); addr != "" {
		fmt.Println(serve(addr))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// body is long enough to be many frames.
var body = strings.Repeat("every byte of this counts. ", 4000)

// serve answers with the body, or with what another host answers.
func serve(addr string) error {
	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	return http.ListenAndServe(addr, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("from") == "" {
			io.WriteString(w, body)
			return
		}
		text, err := get(client, r.FormValue("from"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusGatewayTimeout)
		}
		io.WriteString(w, text)
	}))
}

func get(client *http.Client, from string) (string, error) {
	res, err := client.Get(from)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", res.StatusCode, text)
	}
	return string(text), err
}

// hosts starts a switch of two hosts with a server in each.
func hosts(t *testing.T) (*Switch, [2]string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can make network namespaces")
	}
	s, err := NewSwitch(2)
	if err != nil {
		t.Skip("no namespaces here: ", err)
	}
	t.Cleanup(s.Close)
	var urls [2]string
	for i := range urls {
		addr := s.Addr(i) + ":8080"
		cmd := exec.Command("nsenter", "--net=/run/netns/"+s.Namespace(i), "--", os.Args[0])
		cmd.Env = append(os.Environ(), hostVariable+"="+addr)
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			cmd.Process.Kill()
			cmd.Wait()
		})
		urls[i] = "http://" + addr + "/"
	}
	return s, urls
}

func TestSwitch(t *testing.T) {
	s, urls := hosts(t)
	client := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	here := func(want bool, i int) {
		t.Helper()
		patience := 500 * time.Millisecond
		if want {
			patience = 20 * time.Second
		}
		client.Timeout = patience
		if text, err := get(client, urls[i]); (err == nil && text == body) != want {
			t.Fatalf("host %d: reached %v, want %v: %v", i, err == nil, want, err)
		}
	}
	between := func(want bool) {
		t.Helper()
		client.Timeout = 20 * time.Second
		text, err := get(client, urls[0]+"?from="+url.QueryEscape(urls[1]))
		if (err == nil && text == body) != want {
			t.Fatalf("host 0 reached host 1: %v, want %v: %v", err == nil, want, err)
		}
	}
	for end := time.Now().Add(time.Minute); ; { // until both have started
		_, err0 := get(client, urls[0])
		_, err1 := get(client, urls[1])
		if err0 == nil && err1 == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal(err0, err1)
		}
	}
	here(true, 0)
	between(true)
	Between(s, 0, 1, Rule{Drop: true})
	here(true, 0)
	here(true, 1)
	between(false)
	s.Heal()
	between(true)
	s.Set(1, 0, Rule{Drop: true}) // one way is enough
	between(false)
	s.Heal()
	s.Set(s.Clients(), 1, Rule{Drop: true})
	here(false, 1)
	between(true)
	s.Heal()
	Between(s, 0, s.Clients(), Rule{Delay: 50 * time.Millisecond})
	began := time.Now()
	here(true, 0)
	if took := time.Since(began); took < 200*time.Millisecond { // a handshake and an answer
		t.Fatalf("took %v with 50 ms each way", took)
	}
	Between(s, 0, s.Clients(), Rule{Loss: 0.05, Duplicate: 0.2, Corrupt: 0.05, Reorder: 0.2, Delay: time.Millisecond})
	here(true, 0) // the body is whole: TCP sees to it
}
