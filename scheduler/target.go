package scheduler

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/trireme-dev/trireme/fsm/httpurl"
)

// newRequest makes a request whose line has exactly the target of a destination. Package net/url refuses some, such as a lone
// percent sign, and writes others in its own way, such as a vertical bar with all that is escaped in the same path.
func newRequest(ctx context.Context, method string, to *httpurl.URL, body io.Reader) (*http.Request, error) {
	text := to.String()
	if u, err := url.Parse(text); err == nil && u.RequestURI() == to.Target() {
		return http.NewRequestWithContext(ctx, method, text, body)
	}
	r, err := http.NewRequestWithContext(ctx, method, to.Scheme+"://"+to.Address()+"/", body)
	if err != nil {
		return nil, err
	}
	if name, password, has := to.Credentials(); has {
		r.URL.User = url.UserPassword(name, password)
	}
	r.URL.RawQuery, r.URL.ForceQuery = strings.TrimPrefix(to.Query, "?"), to.Query == "?"
	if path, _, _ := strings.Cut(to.Target(), "?"); !strings.HasPrefix(path, "//") {
		r.URL.Opaque = path
	} else { // which would be a host: the bar and the lone percent sign are escaped
		r.URL.RawPath = to.EscapedPath()
		r.URL.Path, err = url.PathUnescape(r.URL.RawPath)
	}
	return r, err
}
