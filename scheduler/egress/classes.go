package egress

import "net/netip"

// rule says which setting allows a class of addresses.
type rule uint8

const (
	public rule = iota // open
	closed             // opened by any allowed network that has the address
	named              // opened by an allowed network inside the class
	never              // no connection can or may be made
)

// class is a range of addresses of one kind.
type class struct {
	network netip.Prefix
	rule    rule
	// name is used in refusals, before "address".
	name string
}

func in(network string, r rule, name string) class {
	return class{netip.MustParsePrefix(network), r, name}
}

// classes are the ranges that are not the public Internet, by the registries of special
// addresses (RFC 6890 and what updates it) and the documentation of clouds. The first
// that contains an address decides.
var classes = []class{
	// Metadata services of clouds, which serve credentials to every local process.
	in("169.254.169.254/32", named, "cloud metadata"),
	in("169.254.170.2/32", named, "cloud metadata"),
	in("169.254.170.23/32", named, "cloud metadata"),
	in("100.100.100.200/32", named, "cloud metadata"),
	in("168.63.129.16/32", named, "cloud metadata"),
	in("192.0.0.192/32", named, "cloud metadata"),
	in("fd00:ec2::254/128", named, "cloud metadata"),
	in("fd00:ec2::23/128", named, "cloud metadata"),
	in("fd20:ce::254/128", named, "cloud metadata"),

	in("127.0.0.0/8", named, "loopback"),
	in("::1/128", named, "loopback"),
	in("169.254.0.0/16", named, "link-local"),
	in("fe80::/10", named, "link-local"),
	in("0.0.0.0/8", named, "unspecified"), // some systems connect to themselves
	in("::/128", named, "unspecified"),

	in("10.0.0.0/8", closed, "private"),
	in("172.16.0.0/12", closed, "private"),
	in("192.168.0.0/16", closed, "private"),
	in("fc00::/7", closed, "private"),
	in("fec0::/10", closed, "site-local"),
	in("100.64.0.0/10", closed, "carrier-grade NAT"),

	in("192.0.0.0/24", closed, "reserved"),
	in("192.88.99.0/24", closed, "6to4 relay"),
	in("198.18.0.0/15", closed, "benchmark"),
	in("192.0.2.0/24", closed, "documentation"),
	in("198.51.100.0/24", closed, "documentation"),
	in("203.0.113.0/24", closed, "documentation"),
	in("224.0.0.0/4", never, "multicast"),
	in("255.255.255.255/32", never, "broadcast"),
	in("240.0.0.0/4", closed, "reserved"),

	in("ff00::/8", never, "multicast"),
	in("64:ff9b::/96", closed, "translated"),
	in("64:ff9b:1::/48", closed, "translated"),
	in("2002::/16", closed, "6to4"),
	in("2001::/32", closed, "Teredo"),
	in("2001::/23", closed, "reserved"),
	in("2001:db8::/32", closed, "documentation"),
	in("3fff::/20", closed, "documentation"),
	in("2000::/3", public, "public"),
	in("::/0", closed, "reserved"), // nothing else is given out
}

// classOf is the class of an address without mapping and zone.
func classOf(a netip.Addr) class {
	for _, c := range classes {
		if c.network.Contains(a) {
			return c
		}
	}
	return class{name: "public"}
}

var (
	nat64  = netip.MustParsePrefix("64:ff9b::/96")
	sixTo4 = netip.MustParsePrefix("2002::/16")
)

// embedded is the IPv4 address that a translating IPv6 address leads to.
func embedded(a netip.Addr) (netip.Addr, bool) {
	b := a.As16()
	switch {
	case nat64.Contains(a):
		return netip.AddrFrom4([4]byte(b[12:])), true
	case sixTo4.Contains(a):
		return netip.AddrFrom4([4]byte(b[2:6])), true
	}
	return netip.Addr{}, false
}
