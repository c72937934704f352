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

func newClass(network string, r rule, name string) class {
	return class{netip.MustParsePrefix(network), r, name}
}

// classes are the ranges that are not the public Internet, by the registries of special
// addresses (RFC 6890 and what updates it) and the documentation of clouds. The first
// that contains an address decides.
var classes = []class{
	// Metadata services of clouds, which serve credentials to every local process.
	newClass("169.254.169.254/32", named, "cloud metadata"),
	newClass("169.254.170.2/32", named, "cloud metadata"),
	newClass("169.254.170.23/32", named, "cloud metadata"),
	newClass("100.100.100.200/32", named, "cloud metadata"),
	newClass("168.63.129.16/32", named, "cloud metadata"),
	newClass("192.0.0.192/32", named, "cloud metadata"),
	newClass("fd00:ec2::254/128", named, "cloud metadata"),
	newClass("fd00:ec2::23/128", named, "cloud metadata"),
	newClass("fd20:ce::254/128", named, "cloud metadata"),

	newClass("127.0.0.0/8", named, "loopback"),
	newClass("::1/128", named, "loopback"),
	newClass("169.254.0.0/16", named, "link-local"),
	newClass("fe80::/10", named, "link-local"),
	newClass("0.0.0.0/8", named, "unspecified"), // some systems connect to themselves
	newClass("::/128", named, "unspecified"),

	newClass("10.0.0.0/8", closed, "private"),
	newClass("172.16.0.0/12", closed, "private"),
	newClass("192.168.0.0/16", closed, "private"),
	newClass("fc00::/7", closed, "private"),
	newClass("fec0::/10", closed, "site-local"),
	newClass("100.64.0.0/10", closed, "carrier-grade NAT"),

	newClass("192.0.0.0/24", closed, "reserved"),
	newClass("192.88.99.0/24", closed, "6to4 relay"),
	newClass("198.18.0.0/15", closed, "benchmark"),
	newClass("192.0.2.0/24", closed, "documentation"),
	newClass("198.51.100.0/24", closed, "documentation"),
	newClass("203.0.113.0/24", closed, "documentation"),
	newClass("224.0.0.0/4", never, "multicast"),
	newClass("255.255.255.255/32", never, "broadcast"),
	newClass("240.0.0.0/4", closed, "reserved"),

	newClass("ff00::/8", never, "multicast"),
	newClass("64:ff9b::/96", closed, "translated"),
	newClass("64:ff9b:1::/48", closed, "translated"),
	newClass("2002::/16", closed, "6to4"),
	newClass("2001::/32", closed, "Teredo"),
	newClass("2001::/23", closed, "reserved"),
	newClass("2001:db8::/32", closed, "documentation"),
	newClass("3fff::/20", closed, "documentation"),
	newClass("2000::/3", public, "public"),
	newClass("::/0", closed, "reserved"), // nothing else is given out
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
