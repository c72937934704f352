package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"github.com/trireme-dev/trireme/cmd/trireme/demoshop"
)

// demo is the shop of "dev --demo". It works from begin until ctx ends.
type demo struct {
	shop    *demoshop.Shop
	ctx     context.Context
	working sync.WaitGroup
}

// openShop opens the shop of --demo. stop waits until it no longer works, which it does until ctx ends, and closes it. Its
// endpoint is up until then, so that a node that stops finishes its deliveries.
func (dn *devNode) openShop(ctx context.Context, log *slog.Logger) (stop func(), err error) {
	if !dn.Demo {
		return func() {}, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	shop, err := demoshop.Open(demoshop.Options{Node: dn.url, Token: dn.tokens.Admin, Log: log})
	if err != nil {
		cancel()
		return nil, err
	}
	dn.demo = &demo{shop: shop, ctx: ctx}
	return func() {
		cancel()
		dn.demo.working.Wait()
		if err := shop.Close(); err != nil {
			log.Warn("the demo shop did not close cleanly", "error", err)
		}
	}, nil
}

// begin fills in the sample data, and has the shop work in the background.
func (d *demo) begin(out io.Writer) {
	if d == nil {
		return
	}
	if err := d.shop.Fill(d.ctx); err != nil {
		fmt.Fprintln(out, "\nThere are no sample data: "+err.Error())
		return
	}
	fmt.Fprintf(out, "\nA demo shop at %s takes a few orders each 10 to 20 seconds. Deliveries to it are not printed.\n", d.shop.URL())
	d.working.Go(func() { d.shop.Run(d.ctx) })
}

// shopURL returns the base URL of the demo's shop, "" without.
func (dn *devNode) shopURL() string {
	if dn.demo == nil {
		return ""
	}
	return dn.demo.shop.URL()
}
