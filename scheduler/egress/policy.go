package egress

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

// ErrRefused matches every refusal of an address, by errors.Is.
var ErrRefused = errors.New("destination not allowed")

// Policy says which addresses deliveries may reach. The zero value opens the public
// Internet alone. It is not changed after it is in use.
type Policy struct {
	// Open lets everything through that a connection can be made to, for development.
	Open bool
	// Allow opens networks outside the public Internet. Loopback and link-local
	// addresses are opened only by a network inside their own range, and the addresses
	// at which clouds serve credentials only by themselves.
	Allow []netip.Prefix
	// HTTPSOnly refuses destinations that are http.
	HTTPSOnly bool
	// Own reports whether an address is a listener of the cluster itself, which no
	// delivery may reach, allowed or not. It may be nil.
	Own func(netip.AddrPort) bool
}

// ParseAllow reads networks in CIDR form and single addresses.
func ParseAllow(texts []string) ([]netip.Prefix, error) {
	var all []netip.Prefix
	for _, text := range texts {
		text = strings.TrimSpace(text)
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			addr, err := netip.ParseAddr(text)
			if err != nil || addr.Zone() != "" {
				return nil, fmt.Errorf("%q is neither an address nor a network in CIDR form", text)
			}
			prefix = netip.PrefixFrom(addr, addr.BitLen())
		}
		if prefix.Addr().Is4In6() {
			if prefix.Bits() < 96 {
				return nil, fmt.Errorf("%q mixes IPv4 and IPv6", text)
			}
			prefix = netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-96)
		}
		all = append(all, prefix.Masked())
	}
	return all, nil
}

// Check judges an address that is about to be dialed. The error is an ErrRefused and
// names the rule.
func (p *Policy) Check(at netip.AddrPort) error {
	addr := unwrapAddr(at.Addr())
	if p.Own != nil && p.Own(netip.AddrPortFrom(addr, at.Port())) {
		return fmt.Errorf("%w: %s is an address of this cluster", ErrRefused, at)
	}
	return p.CheckAddr(addr)
}

// CheckAddr judges an address without a port, as an edge does that refuses a message
// early. It knows nothing of the cluster's own ports.
func (p *Policy) CheckAddr(addr netip.Addr) error {
	if kind, refused := p.Refuses(addr); refused {
		return fmt.Errorf("%w: %s is a %s address", ErrRefused, unwrapAddr(addr), kind)
	}
	return nil
}

// Refuses judges like CheckAddr, and says in words for people what kind of address a
// refused one is.
func (p *Policy) Refuses(addr netip.Addr) (kind string, refused bool) {
	addr = unwrapAddr(addr)
	c := classOf(addr)
	switch {
	case c.rule == public:
		return "", false
	case c.rule == never:
		return c.name, true
	case p.Open:
		return "", false
	case !p.allows(addr, c):
		return c.name, true
	}
	if inner, ok := embedded(addr); ok {
		return p.Refuses(inner)
	}
	return "", false
}

func (p *Policy) allows(addr netip.Addr, c class) bool {
	for _, network := range p.Allow {
		if !network.Contains(addr) {
			continue
		}
		switch c.rule {
		case closed:
			return true
		case named:
			if c.network.Overlaps(network) && network.Bits() >= c.network.Bits() {
				return true
			}
		}
	}
	return false
}

// unwrapAddr returns an address without a zone, and the IPv4 address inside a mapped one.
func unwrapAddr(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }
