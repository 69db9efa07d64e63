package meaning

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Patterns for the subject of an error in its line, if the error's own pattern has none.
var (
	hostInLine = lazyregexp.New(`(?i)(?:\bhost(?: ?name)?[ :=]+(?:Just )?['"]?|server on ['"]|connecting to (?:host(?: ?name)? )?)([\w][\w.-]*)|\(['"]?(\w[\w.-]*)['"]?, \d+\)`)
	// ownEnd matches the end of a connection at the program, which Go writes before that of the server.
	ownEnd        = lazyregexp.New(`\S+:\d+->`)
	addressInLine = lazyregexp.New(`(?:^|[\s'"(\[/@])` + hostPort)
	// endpointInLine finds a server and its port as clients name them: "host X port N", ('X', N), or X:N.
	endpointInLine = lazyregexp.New(`(?i:\b(?:host(?:name)?[ =:]+|(?:to|at|on|for|server) )["'\x60]?([a-z\d][\w.-]*)["'\x60]?(?: \([^)]*\))?,? (?:and accepting\b.*)?port[ =:]+(\d+)|\(["']?([a-z\d][\w.-]*)["']?, (\d{2,5})\)|/dev/tcp/([\w.-]+)/(\d+)|\bserver on '([^']+)'|\bremote host \(([^)]+)\))|(?:^|[\s'"(\[/@])` + hostPort)
)

const hostPort = `((?:[a-z][\w.-]*|\d+\.\d+\.\d+\.\d+|\[[0-9a-f:]+\]):\d{2,5})\b`

// hostOfAddress matches the host of a request of Go before the address that it dialed.
var hostOfAddress = lazyregexp.New(`(?:\bhttps?://|host=)([^\s/"'` + "`" + `]+).*\b(?:dial (?:tcp|udp)\d?|connect E[A-Z]+) \S`)

// apiAddress matches the address of the Service of the API server, which is the first one of its range. apiRequest matches a request to the API server: by that address, by a path that only it has, or by the words of kubectl.
const apiAddress = `(?:1(?:0|72)\.\d+\.0\.1|10\.152\.183\.1)`

var apiRequest = lazyregexp.New(`https://(?:kubernetes\.default\b[^\s/"]*|` + apiAddress + `(?::443)?)/|https://\d+\.\d+\.\d+\.\d+(?::\d+)?/api/v1/|https://[^\s/"]+/(?:apis/[a-z0-9.-]+/v\d|api/v1/(?:namespaces|nodes|pods|secrets|configmaps|services)\b|apis?\?timeout=|version(?:\?|")|openapi/v)|host='[^']+', port=\d+\).* with url: /(?:apis/[a-z0-9.-]+/v\d|api/v1/(?:namespaces|nodes|pods)\b)|Unable to connect to the server: |The connection to the server \S+ was refused`)

// ofProxy is at the end of the subject of an error about the proxy of the program.
const ofProxy = " (its proxy)"

// readHost puts the host that a message of Go names before the address, which means little alone.
func readHost(e *KnownError, line string) {
	e.APIServer = apiRequest.MatchString(line)
	host := hostOfAddress.Group(line)
	if strings.Contains(line, "proxyconnect") || strings.Contains(line, "socks connect") { // The address belongs to the proxy.
		e.Subject, e.APIServer = e.Subject+ofProxy, false
		return
	}
	if host == "" || e.Subject == "" || strings.HasPrefix(host, e.Subject) || strings.HasPrefix(e.Subject, host) {
		return
	}
	_, port, _ := strings.Cut(host, ":")
	e.Subject = host + " (" + strings.TrimSuffix(e.Subject, ":"+port) + ")"
}

var (
	// ownPod matches an address of the pod itself.
	ownPod = lazyregexp.New(`(?:^|\()(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::|$)`)
	// apiServer matches the host of the API server.
	apiServer = lazyregexp.New(`^(?:kubernetes\.default\b\S*(?: .*)?$|` + apiAddress + `:443$)`)
	// external matches a host outside of the cluster, by its domain.
	external = lazyregexp.New(`^(?:(?:[\w-]+\.)+(?:com|org|net|io|dev|ai|cloud|app|co|gov|edu|de|fr|eu|uk|cn|us|sh)|(?:[\w-]+\.){2,}(?:internal|local|lan|corp|test)|(?:[\w-]+\.)+example)(?::\d+)?(?: |$)`)
	// manyLabels matches a host with more labels than the name of a Service or of its pod has; of a Service, its domain is left out before.
	manyLabels = lazyregexp.New(`^(?:[\w-]+\.){3,}[\w-]+(?::\d+)?(?: |$)`)
	// private matches an address of a private network.
	private = lazyregexp.New(`^(?:10|127|169\.254|192\.168|172\.(?:1[6-9]|2\d|3[01])|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\.|^\[`)
	// noHost matches hosts that stand for an address that is missing or no URL: "base" is of the parser of pg for Node.js.
	noHost = lazyregexp.New(`(?i)^(?:base|undefined|null|none|nil|false|nan|your[-_].*|.*[<>{}$].*)(?:$| |:)`)
	// address matches an IP address.
	address = lazyregexp.New(`^(?:\d+\.\d+\.\d+\.\d+|\[)`)
)

// isExternal reports whether a host is outside of the cluster.
func isExternal(host string) bool {
	return isForeign(host) || address.MatchString(host) && !private.MatchString(host)
}

// isForeign reports whether a host name can be none of the cluster.
func isForeign(host string) bool {
	return !ofService.MatchString(host) && !address.MatchString(host) && (external.MatchString(host) || manyLabels.MatchString(host))
}

// MayBeService reports whether a host may be a Service of the cluster.
func MayBeService(host string) bool {
	return host != "" && !isForeign(host) && !address.MatchString(host) && !ownPod.MatchString(host) && !noHost.MatchString(host)
}

var (
	// ofService matches what follows the namespace in the name of a Service, and podOfSet the name of a pod of a StatefulSet.
	ofService = lazyregexp.New(`\.svc(?:\.[\w.-]+)?(?::\d+)?(?: |$)`)
	podOfSet  = lazyregexp.New(`^(.+)-\d+$`)
	// serviceName matches the name of a Service.
	serviceName = lazyregexp.New(`^[a-z]([a-z0-9-]*[a-z0-9])?$`)
)

// ServiceOf returns the Service that a host names, and its namespace, "" for that of the pod; both are "" if the host is none.
func ServiceOf(host string) (service, namespace string) {
	if !MayBeService(host) {
		return "", ""
	}
	name, _, _ := strings.Cut(host, " ")
	name, _, _ = strings.Cut(ofService.ReplaceAllString(name, ""), ":")
	parts := strings.Split(name, ".")
	if set := podOfSet.Group(parts[0]); set != "" && (len(parts) == 3 || len(parts) == 2 && (strings.HasPrefix(set, parts[1]) || strings.HasPrefix(parts[1], set+"-"))) {
		parts = parts[1:]
	}
	if len(parts) > 2 || slices.ContainsFunc(parts, func(part string) bool { return !serviceName.MatchString(part) }) {
		return "", ""
	}
	return parts[0], strings.Join(parts[1:], "")
}

// IsOfAPIServer reports whether the error is about the address of the API server, which runs before any Job.
func (e *KnownError) IsOfAPIServer() bool { return e.APIServer || apiServer.MatchString(e.Subject) }

// IsOfNetwork reports whether the program did not reach a server.
func (e *KnownError) IsOfNetwork() bool {
	return e.Kind == ErrorNameResolution || slices.Contains(unreached, e.Kind)
}

// addressAdvice returns advice on a server by its address, for the formats with and without one.
func addressAdvice(named, plain string) func(*KnownError, Container) string {
	return func(e *KnownError, c Container) string {
		switch {
		case e.Subject == "":
			return plain
		case strings.HasSuffix(e.Subject, ofProxy):
			return fmt.Sprintf("correct HTTPS_PROXY and HTTP_PROXY in env of container %s, and check whether %s works; NO_PROXY has the hosts that are asked without it, such as the API server and Services (.svc)", c.Name, e.Host())
		case strings.HasSuffix(e.Subject, ":10250"):
			return fmt.Sprintf("check the kubelet of the node with the address %s, which the API server asks for logs and to run commands: the node may be down, or a firewall closes this port", strings.TrimSuffix(e.Subject, ":10250"))
		case ownPod.MatchString(e.Subject):
			return ownPodAdvice(e, c)
		case e.IsOfAPIServer():
			is := "is most likely"
			if e.APIServer || strings.HasPrefix(e.Subject, "kubernetes.default") {
				is = "is"
			}
			return fmt.Sprintf("check the network of the pod's node (CNI plugin, kube-proxy) and NetworkPolicies: %s %s the API server", e.Subject, is)
		case isExternal(e.Subject):
			proxy := ", or its proxy (HTTPS_PROXY)"
			if _, port, _ := strings.Cut(e.Subject, ":"); port != "" && !strings.HasPrefix(port, "443") {
				proxy = ", and whether the server listens there"
			}
			return fmt.Sprintf("check whether the pod may reach %s, which is outside of the cluster: NetworkPolicies, firewalls%s", e.Subject, proxy)
		}
		text := cmp.Or(podAdvice(e.Subject, "it has to be ready, and to listen there"), fmt.Sprintf(named, e.Subject))
		if e.Kind == ErrorConnectionRefused && c.hasArgument("--retry") && !c.hasArgument("--retry-connrefused") && !c.hasArgument("--retry-all-errors") {
			text += "; with --retry alone, curl ends at the first refused connection: add --retry-connrefused"
		}
		return text
	}
}

// ownPodAdvice returns advice on a program that looks for a server at the address of its own pod.
func ownPodAdvice(e *KnownError, c Container) string {
	switch {
	case e.APIServer:
		return ownAPIServer(e, c)
	case c.HostNetwork:
		return fmt.Sprintf("check whether the server runs there, and accepts the certificates of the program: the pod is on the host network, so that %s is its node", e.Subject)
	case len(c.Beside) == 0:
		return fmt.Sprintf("give the program the address of its server, unless container %s should start that itself: %s is the pod, which has no other container", c.Name, e.Subject)
	}
	return fmt.Sprintf("%s is the pod itself: if no container of the pod should listen there, give the program the address of its server", e.Subject)
}

// ownAPIServer returns advice on a program that takes its own pod for the API server.
func ownAPIServer(e *KnownError, c Container) string {
	switch {
	case strings.HasSuffix(e.Subject, ":6443"):
		return fmt.Sprintf("have the program use the token of ServiceAccount %s in place of its kubeconfig, or give that an address that pods reach: %s, which it names, is the pod itself, and the API server only on a control plane node with hostNetwork: true", c.account(), e.Subject)
	case c.NoToken:
		return c.tokenAdvice() + fmt.Sprintf("; kubectl then asks %s", e.Subject)
	}
	return fmt.Sprintf("mount the token of ServiceAccount %s (automountServiceAccountToken), or give container %s a kubeconfig: without them, kubectl asks %s", c.account(), c.Name, e.Subject)
}

// nameAdvice returns advice on a host name that has no address.
func nameAdvice(e *KnownError, c Container) string {
	switch {
	case noHost.MatchString(e.Subject):
		return fmt.Sprintf("correct the address of the server in %s: %s is no host, but what the program makes of an address that is missing or no valid URL (a password in it may have characters to encode)",
			cmp.Or(c.addresses(), c.credentials(), c.configurationText()), e.Host())
	case c.NodeDNS && e.isOfCluster() && c.HostNetwork:
		return "{recreate} with dnsPolicy ClusterFirstWithHostNet: pods on the host network use the DNS of their node, which has no names of Services"
	case c.NodeDNS && e.isOfCluster():
		return "{recreate} with dnsPolicy ClusterFirst: its pods use the DNS of their node, which has no names of Services"
	case c.NodeDNS && c.HostNetwork:
		return fmt.Sprintf("check host name %s, and the DNS of the pod's node (its /etc/resolv.conf): pods on the host network use it, unless their dnsPolicy is ClusterFirstWithHostNet", e.Host())
	case c.NodeDNS && e.Subject != "":
		return fmt.Sprintf("check host name %s, and the DNS of the pod's node (its /etc/resolv.conf), which pods use with dnsPolicy Default", e.Host())
	case isForeign(e.Subject):
		return fmt.Sprintf("check host name %s, and whether the cluster's DNS resolves names outside of the cluster (its upstream servers) and the pod can reach it", e.Host())
	case e.isPod():
		return podAdvice(e.Host(), "the name resolves once that pod runs and is ready")
	case e.Subject != "":
		return fmt.Sprintf("check host name %s: whether its Service exists in that namespace, and whether the pod can reach the cluster's DNS", e.Host())
	}
	text := "check " + wording.Join(", which comes from ", "the host name", c.addresses()) + ": whether its Service exists in that namespace, and whether the pod can reach the cluster's DNS"
	return wording.Join("; ", text, c.connection())
}

// NoDNS is at the end of the subject of an error about a name for which no DNS server answered.
const NoDNS = " (no answer from its DNS server)"

// dnsFails matches the end of a lookup that no DNS server answered.
var dnsFails = lazyregexp.New(`\blookup \S+ ?(?:on \S+)?: (?:read udp \S+: )?(?:i/o timeout|read: connection refused|connect: connection refused)`)

// readName removes the root of the domain from the name, and notes that no DNS server answered.
func readName(e *KnownError, line string) {
	if e.Subject == "not" || e.Subject == "failed" { // host not found, getaddrinfo failed
		e.Subject = ""
	}
	if e.Subject = strings.TrimSuffix(e.Subject, "."); e.Subject != "" && dnsFails.MatchString(line) {
		e.Subject += NoDNS
	}
}

// Host returns the subject without remarks.
func (e *KnownError) Host() string {
	host, _, _ := strings.Cut(e.Subject, " (")
	return host
}

// isOfCluster reports whether the subject may be the name of a Service.
func (e *KnownError) isOfCluster() bool {
	host := e.Host()
	return host != "" && (!strings.Contains(host, ".") || strings.Contains(host+".", ".svc."))
}

var (
	otherHost = lazyregexp.New(`(?i)is valid for|altnames|subject name|doesn't match|hostname mismatch`)
	outdated  = lazyregexp.New(`(?i)has expired|not yet valid`)
)

// certificateAdvice returns advice by what is wrong with the certificate of a server.
func certificateAdvice(e *KnownError, c Container) string {
	of := prefixed(" of ", onlyServer(&c))
	if e.APIServer {
		of = " of the API server"
	}
	switch {
	case otherHost.MatchString(e.Subject):
		return "have the program use a host name that the certificate is valid for, or have it issued for this one, too"
	case outdated.MatchString(e.Subject):
		return "renew the certificate" + cmp.Or(of, " of the server") + ", or correct the clock of the node"
	}
	if e.APIServer {
		return "have the program trust the CA of the cluster, which each pod with a token has in " + tokenDir + "/ca.crt, or check whether the API server has a certificate of that CA (ConfigMap kube-root-ca.crt): it may have got a new one"
	}
	return "give container " + c.Name + " the certificate of the CA that signed that" + cmp.Or(of, " of the server") + wording.InBrackets(c.fixedMounts()) + prefixed(", ", c.trust) + ", or correct the server's"
}

// trusts say how programs trust a CA, by what their errors show of their language or client.
var trusts = []ask{
	{lazyregexp.New(`_tls_wrap|TLSSocket|node:internal|UNABLE_TO_(?:GET|VERIFY)|SELF_SIGNED_CERT`), "in the file that NODE_EXTRA_CA_CERTS names"},
	{lazyregexp.New(`\brequests\.|urllib3|certifi\b`), "in the file that REQUESTS_CA_BUNDLE names"},
	{lazyregexp.New(`\bcurl: \(`), "in the file that --cacert or CURL_CA_BUNDLE names"},
	{lazyregexp.New(`\bfatal: unable to access '`), "in the file that GIT_SSL_CAINFO names"},
	{lazyregexp.New(`PKIX path|SunCertPath|unable to find valid certification path`), "in a truststore (-Djavax.net.ssl.trustStore in JAVA_TOOL_OPTIONS)"},
	{lazyregexp.New(`\bx509: |_ssl\.c`), "in the file that SSL_CERT_FILE names"},
}

// trust returns how the program that failed trusts a CA, "" if that is unknown.
func (q *Clue) trust() string {
	text := strings.Join(append(slices.Clone(q.Log), q.Words), "\n")
	return cmp.Or(lists.First(trusts, func(a *ask) bool { return a.phrase.MatchString(text) }), &ask{}).advice
}

// networkErrors are errors about names, connections and certificates. A message may mention both a name and a connection.
var networkErrors = []errorRow{
	{
		kind: ErrorNameResolution, brief: "unresolved host",
		patterns: []errorPattern{
			{"could not translate host name |bad address '|no resolvable bootstrap urls|unknown host |unknown mysql server host '|_mongodb._tcp.", lazyregexp.New(`(?i:could not translate host name "([^"]+)")|\bbad address '([^']+)'|No resolvable bootstrap urls|Unknown host ([\w-]+\.[\w.-]*\w)|(?i:unknown mysql server host '([^']+)')|(_mongodb\._tcp\.[\w.-]*\w)`), nil},
			{"lookup ", lazyregexp.New(`\blookup ([^\s:]+)(?: on \S+)?: .`), nil},
			{"resolve", lazyregexp.New(`(?i)(?:could not|couldn't|cannot|can't|failed to|unable to) resolve(?:(?: host| proxy| hostname| host name| host address| address)+:? ['‘"]?([^\s'’";:,]+)|:? ['‘"]?(\w[\w-]*\.[\w.-]+)(?:['’"]|:\d+)?(?:[\s;,)]|: |\.?$))`), nil},
			{"unknownhost", lazyregexp.New(`\bUnknownHostException\b(?:: ([^\s:]+))?`), nil},
			{"getaddrinfo", lazyregexp.New(`\bgetaddrinfo(?: for| E[A-Z_]+)? ['"]?([^\s'":]+)['"]?(?: port \d+)?(?: failed)?(?:[:,\s]|$)`), nil},
			{"temporary failure", lazyregexp.New(`(?i)temporary failure (?:in name resolution|resolving '([^']+)')`), nil},
			{"name ", lazyregexp.New(`(?i)(?:\bat |: )([\w.-]+):\d+: (?:\[errno -\d+\] )?name or service not known|name or service not known(?: \(([^\s():]+):\d+\))?`), nil},
			{"name does not resolve|no such host|servname", lazyregexp.New(`(?i:name does not resolve)|(?i:no such host is known(?:\. \(([^\s():]+))?|no such host)|(?i:nodename nor servname provided)`), nil},
		},
		yieldsTo: []ErrorKind{ErrorWebhook},
		read:     readName,
		subject:  hostInLine,
		text:     "{host name %s|a host name} could not be resolved",
		advise:   nameAdvice,
	},
	{
		kind: ErrorConnectionRefused, brief: "connection refused",
		patterns: []errorPattern{
			{"refused|(111)", lazyregexp.New(`(?i)\bdial (?:tcp|udp)\d? (\S+): (?:connect: )?connection refused|\bERR_CONNECTION_REFUSED(?: at \w+://([^\s/]+))?|\bconnection to (?:the )?(?:server )?([\w.-]+:\d+) (?:was )?refused|\b(?:connection refused|ECONNREFUSED)\b|\bserver on '[^']+' \(111\)`), nil},
		},
		yieldsTo: []ErrorKind{ErrorNameResolution, ErrorWebhook},
		read:     readHost,
		subject:  endpointInLine,
		text:     "connection refused{ by %s|}",
		advise: addressAdvice("check whether something listens on %s when the Job starts, and whether address and port are correct",
			"check whether the server listens when the Job starts, and whether its address and port are correct"),
	},
	{
		kind: ErrorNoConnection, brief: "no connection",
		patterns: []errorPattern{
			// curl gives no reason.
			{"connect to", lazyregexp.New(`(?i)failed to connect to (\S+) port (\d+)(?: after \d+ ms)?: could ?n[o']t connect to server`), nil},
			{"to load|service index|connect to host", lazyregexp.New(`[cC]annot connect to host (\S+:\d+)|We couldn't connect to 'https?://([^/']+)' to load|Unable to load the service index for source https?://([^\s/]*[^\s/.])`), nil},
			// A program that ends its message with the address gives no reason.
			{"connect|reach", lazyregexp.New(`(?i)(?:failed to|could ?n[o']t|can(?:not|'t)|unable to) (?:connect|reach)\b[^'"/\x60]{0,40}?[ '"\x60](?:https?://([^\s/'",;)]*[^\s/'",;).])[^\s'",;)]*?|([\w.-]+)\x60?:\x60?(\d{2,5}))[.'"\x60]*$`), nil},
		},
		yieldsTo: []ErrorKind{ErrorTimeout}, // After a second or more, curl has given up.
		text:     "could not connect to {%s|a server}",
		advise: addressAdvice("check whether something listens on %s when the Job starts, whether address and port are correct, and whether NetworkPolicies let the pod reach it",
			"check whether the server listens when the Job starts, and whether its address and port are correct"),
	},
	{
		kind: ErrorTimeout, brief: "no answer in time",
		patterns: []errorPattern{
			{"dial ", lazyregexp.New(`\bdial (?:tcp|udp)\d? (\S+): (?:i/o timeout|connect: connection timed out)`), nil},
			{"deadline|timeout|timed out", lazyregexp.New(`"https?://([^/"]+)[^"]*": [^"]*(?:deadline exceeded|[tT]imeout\b)|(?:\bport[ =]\d+|\d\.\d+:\d{3,5}|\w{3}:\d{4,5}:|', \d{2,5}\))[^;]{0,80}\b(?:timed out|deadline exceeded)|\bcode = DeadlineExceeded\b|TLS handshake timeout|\btimeout on endpoint URL: "https?://([^/"]+)`), nil},
			{"timed out|etimedout|timeout expired", lazyregexp.New(`(?i)\b(?:(?:connection|operation|download|connect|read) timed out|connecting to (\S+) .*failed: connection timed out|timed out after \w+ while trying to connect|ETIMEDOUT\b|(?:^|: |connection |connect )timeout expired\b|host='.*timed out)|\bserver on '[^']+' \(timed out`), nil},
			{"server on '| ms: ", lazyregexp.New(`(?i)\bserver on '[^']+' \((?:11[05]|4)\)|failed to connect to \S+ port \d+ after \d{4,} ms`), nil},
			{"timeout connecting", lazyregexp.New(`Timeout connecting to server`), nil},
		},
		yieldsTo: []ErrorKind{ErrorNameResolution, ErrorNoRoute, ErrorWebhook},
		read:     readHost,
		subject:  endpointInLine,
		text:     "{%s|a server} did not answer in time",
		advise: addressAdvice("check whether %s is the right address and its server runs, and whether NetworkPolicies and firewalls let the pod reach it",
			"check whether the server runs, and whether NetworkPolicies and firewalls let the pod reach it"),
	},
	{
		kind: ErrorNoRoute, brief: "no route to host",
		patterns: []errorPattern{
			{"no route to host|unreach", lazyregexp.New(`(?i)\bdial (?:tcp|udp)\d? (\S+): connect: (?:no route to host|network is unreachable)|\bno route to host(?:: ['"]?([a-z0-9][\w.-]*))?|\bnetwork is unreachable|\bE(?:HOST|NET)UNREACH\b`), nil},
		},
		yieldsTo: []ErrorKind{ErrorWebhook},
		read:     readHost,
		subject:  endpointInLine,
		text:     "there is no route to {%s|a server}",
		advise: addressAdvice("check whether %s is the right address, and whether the pod's network, NetworkPolicies and firewalls let the pod reach it",
			"check the address of the server, and whether the pod's network, NetworkPolicies and firewalls let the pod reach it"),
	},
	{
		kind: ErrorCertificate, brief: "bad certificate",
		patterns: []errorPattern{
			{"x509: ", lazyregexp.New(`(x509: certificate has expired or is not yet valid)|(x509: .+)$`), nil},
			{"certific", lazyregexp.New(`(?i)((?:unable|failed) to (?:verify|validate|find valid|get (?:\w+ )?issuer) [^,;:"]*?certific\w+(?: path[\w ]*)?|cannot verify \S+ certificate|self[- ]signed certificate(?: in certificate chain)?|certificate (?:has expired|is not yet valid)|certificate chain was issued by an authority that is not trusted|\S+ does not match certificate's altnames)`), nil},
			{"certificate verify failed", lazyregexp.New(`(?i)certificate verify failed(?:: ([^(\]]+[^(\]\s]))?`), nil},
			{"ssl certificate problem", lazyregexp.New(`(?i)ssl certificate problem: (.+)$`), nil},
			{"certificate subject name", lazyregexp.New(`(no alternative certificate subject name matches .+)$`), nil},
			{"pkix path", lazyregexp.New(`PKIX path (?:building|validation) failed`), nil},
			{"remote certificate is invalid", lazyregexp.New(`The remote certificate is invalid(?: because of errors in the certificate chain: (.+))?`), nil},
		},
		yieldsTo: []ErrorKind{ErrorWebhook},
		read:     func(e *KnownError, line string) { e.APIServer = apiRequest.MatchString(line) },
		text:     "the certificate of {server} was not accepted{: %s|}",
		advise:   certificateAdvice,
	},
}
