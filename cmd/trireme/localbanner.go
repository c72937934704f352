package main

import (
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/httpapi/console"
	"github.com/trireme-dev/trireme/httpapi/testapi"
)

// banner prints the addresses and tokens for people and scripts, in one write.
func (l *local) banner(members []*member, e *shellEnv) {
	urls := make([]string, len(members))
	for i, m := range members {
		urls[i] = m.url
	}
	out := &bytes.Buffer{}
	fmt.Fprintf(out, "Three nodes are running at %s\n\n", strings.Join(urls, ", "))
	path, err := e.of(members[0]).write(l.dir)
	e.print(out)
	if err != nil {
		fmt.Fprintf(out, "\nThese lines were not written to a file: %v\n", err)
	} else {
		fmt.Fprintf(out, "\nIn another shell, take these variables by: . %s\n", path)
	}
	if console.Available() {
		printConsole(out, members[0].url+console.DefaultBase+"/#enter="+l.link.key)
	}
	fmt.Fprintln(out)
	for i, m := range members {
		fmt.Fprintf(out, "%s is process %d; kill -9 it, and start it again with: %s serve --config %s\n",
			m.id, m.cmd.Process.Pid, os.Args[0], filepath.Join(l.dir, "n"+strconv.Itoa(i+1)+".yaml"))
	}
	l.printf(l.out, "%s\nAn interrupt (Ctrl-C) stops all three.", out)
}

// of returns the environment with the addresses of a node.
func (e *shellEnv) of(m *member) *shellEnv {
	e.url, e.resp = m.url, m.resp
	return e
}

// askKeys asks the cluster for its signing keys, which outlive restarts.
func (l *local) askKeys(ctx context.Context, m *member, e *shellEnv) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, m.url+"/v2/keys", nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+l.tokens.Admin)
	resp, err := (&http.Client{Timeout: stopTimeout}).Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil // the tokens of .cluster were rotated, so this process may not read the keys
	}
	return json.NewDecoder(resp.Body).Decode(&e.keys)
}

// serveSink receives deliveries for as long as the nodes run, whichever of them is killed.
func (l *local) serveSink(e *shellEnv) (stop func(), err error) {
	listener, err := bind("127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	sinks := testapi.NewSinks(func() int64 { return time.Now().UnixMilli() })
	sinks.Watch = func(name string, r testapi.Received) {
		l.mu.Lock()
		defer l.mu.Unlock()
		printReceived(l.out)(name, r)
	}
	permitted := func(r *http.Request) bool {
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		return subtle.ConstantTimeCompare([]byte(token), []byte(l.tokens.Admin)) == 1
	}
	server := &http.Server{Handler: sinks.Handler(permitted), ReadHeaderTimeout: stopTimeout}
	go func() { _ = server.Serve(listener) }() // until it is closed
	e.sink = "http://" + listener.Addr().String() + sinkPath
	return func() { _ = server.Close() }, nil
}

// reportEnded reports that a node has ended, and rewrites the file of variables to name a node that runs.
func (l *local) reportEnded(ended *member, members []*member, e *shellEnv) {
	line := fmt.Sprintf("%s has ended (%s): start it again by its line above; writes need two of the three", ended.id, ended.cmd.ProcessState)
	if at := slices.IndexFunc(members, (*member).runs); at >= 0 && e.url == ended.url {
		if path, err := e.of(members[at]).write(l.dir); err == nil {
			line += fmt.Sprintf("; %s names %s now", path, members[at].id)
		}
	}
	l.printf(l.out, "%s", line)
}
