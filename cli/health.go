package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// healthTimeout bounds health by default: less than the time that a container's runtime gives a
// check.
const healthTimeout = 5 * time.Second

// healthCommand asks a node without a token whether it can serve, for the health checks of
// containers and services.
func healthCommand() *cobra.Command {
	var c Connection
	var live bool
	cmd := &cobra.Command{
		Use: "health", Short: "Report whether a node can serve, by the exit code", Args: UsageArgs(cobra.NoArgs),
		Long: "Asks /readyz of one node, which needs no token: ready means that it has a leader and has caught up with it. --live asks\n" +
			"/livez: whether the process answers at all. For the health checks of containers and services. A node that answers reads\n" +
			"only, because its disk is nearly full, is ready; a second line says so.\n" +
			"Exit codes: 0 ready, 1 not ready (the reason is printed), 2 wrong usage, 3 no answer.",
		Example: "trireme health\ntrireme health --live --url http://127.0.0.1:8081",
		RunE: func(cmd *cobra.Command, _ []string) error {
			node, err := c.withoutToken()
			if err != nil {
				return err
			}
			path := "/readyz"
			if live {
				path = "/livez"
			}
			return node.health(cmd.Context(), path, cmd.OutOrStdout())
		},
	}
	c.addressFlags(cmd.Flags())
	cmd.Flags().DurationVar(&c.timeout, "timeout", healthTimeout, "how long to wait for the answer")
	cmd.Flags().BoolVar(&live, "live", false, "report whether the process answers, ready or not")
	return cmd
}

// health prints what a node answers to a path of health.
func (c *Client) health(ctx context.Context, path string, out io.Writer) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+path, nil)
	if err != nil {
		return Usagef("%w", err)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return c.explain(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	if err != nil {
		return c.explain(err)
	}
	said := strings.TrimSpace(string(text))
	switch {
	case resp.StatusCode == http.StatusOK && (said == "ok" || strings.HasPrefix(said, "ok\n")): // what follows is for people
		_, err = fmt.Fprintln(out, said)
		return err
	case resp.StatusCode == http.StatusServiceUnavailable && said != "":
		return errorf(ExitFailed, "%s", said)
	case resp.StatusCode == http.StatusBadRequest && strings.Contains(said, "HTTP request to an HTTPS server"):
		return c.wrongScheme("https")
	}
	return errorf(ExitUnreachable, "%s answered %s: is it a Trireme node?", c.url, resp.Status)
}
