package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/trireme-dev/trireme/cli"
	"github.com/trireme-dev/trireme/internal/observe"
)

// local runs a cluster of three nodes on this machine, each a process of its own, in the
// foreground, to try out what happens when one is killed.
type local struct {
	dir       string
	http      int
	cluster   int
	gossip    int
	resp      int  // 0 = no listener
	respGiven bool // --resp-port was
	level     string
	sink      bool
	secret    string // the file of the cluster secret
	tokens    credentials
	link      *login // of n1's console
	out, err  io.Writer
	mu        sync.Mutex // one line at a time
	stopping  bool       // all nodes at once, see warnsOfOthers
}

const localNodes = 3

// stopTimeout bounds the time in which the nodes end by themselves; it exceeds drainTime. Then they are
// killed.
const stopTimeout = 15 * time.Second

func localCommand() *cobra.Command {
	l := &local{}
	cmd := &cobra.Command{
		Use:   "local-cluster",
		Short: "Run three nodes on this machine in the foreground; one interrupt stops all",
		Args:  cli.UsageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l.out, l.err = cmd.OutOrStdout(), cmd.ErrOrStderr()
			l.respGiven = cmd.Flags().Changed("resp-port")
			return l.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringVar(&l.dir, "data-dir", ".cluster", "`DIR` of the three nodes' directories")
	f.IntVar(&l.http, "http-port", 8080, "HTTP `PORT` of n1; n2 and n3 use the next ones")
	f.IntVar(&l.cluster, "cluster-port", 7080, "cluster `PORT` of n1; n2 and n3 use the next ones")
	f.IntVar(&l.gossip, "gossip-port", 7090, "gossip `PORT` of n1; n2 and n3 use the next ones")
	f.IntVar(&l.resp, "resp-port", 6379, "RESP `PORT` of n1; n2 and n3 use the next ones (0 = no RESP listener)")
	f.BoolVar(&l.sink, "sink", true, "receive deliveries at /test/sink/NAME of an address of its own, and print them")
	f.StringVar(&l.level, "log-level", "warn", "debug, info, warn or error")
	return cmd
}

// checkPorts refuses to start if a port of a node is in use: a node would end by itself a little
// later, among the lines of the others.
func (l *local) checkPorts() error {
	owner := map[string]string{}
	for _, one := range []struct {
		flag string
		base int
	}{{"http-port", l.http}, {"cluster-port", l.cluster}, {"gossip-port", l.gossip}, {"resp-port", l.resp}} {
		if one.flag == "resp-port" && l.resp == 0 {
			continue
		}
		if one.base < 1 || one.base+localNodes-1 > 65535 {
			return cli.Usagef("--%s must be 1 to %d, because the nodes use it and the next two, got %d", one.flag, 65535-localNodes+1, one.base)
		}
		for i := range localNodes {
			at := address(one.base, i)
			if other, taken := owner[at]; taken {
				return cli.Usagef("--%s and --%s overlap at %s: each flag is for three ports, that one and the next two", other, one.flag, at)
			}
			owner[at] = one.flag
			err := checkFree(at, one.flag == "gossip-port")
			switch {
			case err == nil:
			case one.flag == "resp-port" && !l.respGiven:
				l.printf(l.err, "no RESP listeners: %s is in use; choose other ports with --resp-port", at)
				l.resp = 0
				return nil
			default:
				return bindError(one.flag, err)
			}
		}
	}
	return nil
}

// checkFree returns an error if an address is in use; with packets, also for UDP, which gossip uses.
func checkFree(at string, packets bool) error {
	port, err := net.Listen("tcp", at)
	if err != nil {
		return err
	}
	if err := port.Close(); err != nil || !packets {
		return err
	}
	socket, err := net.ListenPacket("udp", at)
	if err != nil {
		return err
	}
	return socket.Close()
}

// member is one of the three processes.
type member struct {
	id   string
	url  string
	resp string // empty without
	cmd  *exec.Cmd
	done chan struct{}
}

// runs reports whether the process has not ended.
func (m *member) runs() bool {
	select {
	case <-m.done:
		return false
	default:
		return true
	}
}

func (l *local) run(parent context.Context) error {
	log, err := observe.NewLogger(l.err, l.level, "text")
	if err != nil {
		return cli.Usagef("%w", err)
	}
	ctx, stop := untilSignal(parent, log)
	defer stop()
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return err
	}
	if l.tokens, err = devCredentials(l.dir, secretVariable); err != nil {
		return err
	}
	l.link = newLogin(l.tokens.Admin)
	if l.secret, err = keepSecret(l.dir); err != nil {
		return err
	}
	if err := l.checkPorts(); err != nil {
		return err
	}
	// A child that is bound to its parent's life (see child) is bound to the thread
	// that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var members []*member
	defer func() { l.stopAll(members) }()
	for i := range localNodes {
		m, err := l.start(i)
		if err != nil {
			return err
		}
		members = append(members, m)
	}
	if err := l.await(ctx, members); err != nil {
		return err
	}
	e := shellEnv{tokens: l.tokens}
	if l.sink {
		closeSink, err := l.serveSink(&e)
		if err != nil {
			return err
		}
		defer closeSink()
	}
	if err := l.askKeys(ctx, members[0], &e); err != nil {
		return err
	}
	l.banner(members, &e)
	return l.watch(ctx, members, &e)
}

// address returns the address of node i: port base+i on loopback.
func address(base, i int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(base+i)) }

// start writes the settings of node i and runs it.
func (l *local) start(i int) (*member, error) {
	id := "n" + strconv.Itoa(i+1)
	dir := filepath.Join(l.dir, id)
	config := filepath.Join(l.dir, id+".yaml")
	if err := os.WriteFile(config, []byte(l.settings(i, id, dir)), 0o600); err != nil {
		return nil, err
	}
	binary, err := os.Executable()
	if err != nil {
		return nil, err
	}
	m := &member{id: id, url: "http://" + address(l.http, i), done: make(chan struct{})}
	if l.resp > 0 {
		m.resp = address(l.resp, i)
	}
	m.cmd = exec.Command(binary, "serve", "--config", config)
	m.cmd.Env = l.tokens.environ()
	if i == 0 {
		m.cmd.Env = append(m.cmd.Env, linkVariable+"="+l.link.key)
	}
	bindLifetime(m.cmd)
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	m.cmd.Stdout, m.cmd.Stderr = write, write
	err = m.cmd.Start()
	write.Close()
	if err != nil {
		read.Close()
		return nil, err
	}
	go l.copyOutput(m, read)
	return m, nil
}

func (l *local) settings(i int, id, dir string) string {
	peers := make([]string, localNodes)
	for p := range peers {
		peers[p] = fmt.Sprintf("n%d=%s", p+1, address(l.cluster, p))
	}
	var b strings.Builder
	for _, line := range [][2]string{
		{"node-id", id}, {"data-dir", dir}, {"http", address(l.http, i)}, {"cluster", address(l.cluster, i)},
		{"gossip", address(l.gossip, i)}, {"cluster-secret-file", l.secret}, {"initial-cluster", strings.Join(peers, ",")}, {"log-level", l.level},
		{"egress-allow", "127.0.0.0/8,::1"}, // users try it with endpoints on this machine
	} {
		fmt.Fprintf(&b, "%s: %q\n", line[0], line[1])
	}
	if l.resp > 0 {
		fmt.Fprintf(&b, "resp: %q\n", address(l.resp, i))
	}
	return b.String()
}

// copyOutput prints a node's output, each line after the node's name, and waits for its end.
func (l *local) copyOutput(m *member, from *os.File) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		l.printLine(m, lines.Text())
	}
	from.Close()
	_ = m.cmd.Wait()
	close(m.done)
}

// printLine prints a line of a node's log, unless it warns of nodes that are being stopped.
func (l *local) printLine(m *member, line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.stopping || !warnsOfOthers(line) {
		fmt.Fprintf(l.err, "%s | %s\n", m.id, line)
	}
}

// warnsOfOthers reports whether a line warns that other nodes do not answer or do not take leadership. That is expected while
// all of them are stopped.
func warnsOfOthers(line string) bool {
	warns := strings.Contains(line, "level=WARN")
	return warns && (strings.Contains(line, " part=raft") || strings.Contains(line, notTransferred)) ||
		(warns || strings.Contains(line, "level=ERROR")) && strings.Contains(line, " part=gossip") // whose errors are about the others too
}

// notTransferred is the message of a leader that has not found another node to lead yet.
const notTransferred = "leadership was not transferred yet"

func (l *local) printf(to io.Writer, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(to, format+"\n", args...)
}

// await returns when every node is ready, or when one of them has ended: a new cluster waits for
// all three.
func (l *local) await(ctx context.Context, members []*member) error {
	client := &http.Client{Timeout: time.Second}
	ended := make(chan *member, len(members))
	for _, m := range members {
		go func() { <-m.done; ended <- m }()
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for _, m := range members {
		for up := false; !up; {
			select {
			case m := <-ended:
				return fmt.Errorf("%s ended before it was ready (%s)", m.id, m.cmd.ProcessState)
			case <-ctx.Done():
				return errors.New("interrupted before the nodes were ready")
			case <-tick.C:
				up = ready(ctx, client, m.url+"/readyz")
			}
		}
	}
	return nil
}

// ready reports whether a health path answers 200.
func ready(ctx context.Context, client *http.Client, url string) bool {
	req, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		return false
	}
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// watch reports nodes that end, until the interrupt or the end of the last one.
func (l *local) watch(ctx context.Context, members []*member, e *shellEnv) error {
	ended := make(chan *member)
	for _, m := range members {
		go func() {
			<-m.done
			select {
			case ended <- m:
			case <-ctx.Done():
			}
		}()
	}
	for left := len(members); left > 0; left-- {
		select {
		case m := <-ended:
			l.reportEnded(m, members, e)
		case <-ctx.Done():
			return nil
		}
	}
	return errors.New("all three nodes have ended")
}

// stopAll stops the nodes and returns when they have ended; one that takes too long is
// killed.
func (l *local) stopAll(members []*member) {
	l.mu.Lock()
	l.stopping = true
	if slices.ContainsFunc(members, (*member).runs) {
		fmt.Fprintln(l.err, "stopping the nodes")
	}
	l.mu.Unlock()
	for _, m := range members {
		_ = m.cmd.Process.Signal(os.Interrupt)
	}
	late := time.NewTimer(stopTimeout)
	defer late.Stop()
	for _, m := range members {
		select {
		case <-m.done:
		case <-late.C:
			for _, each := range members {
				_ = each.cmd.Process.Kill()
			}
			<-m.done
		}
	}
}
