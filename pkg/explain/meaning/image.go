package meaning

import (
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// Images that are not on the node.
const (
	RateLimit          TroubleKind = "RateLimit"          // the registry limits the rate of pulls
	Unauthorized       TroubleKind = "Unauthorized"       // the registry denies access
	Unauthenticated    TroubleKind = "Unauthenticated"    // the registry wants credentials
	CloudRegistry      TroubleKind = "CloudRegistry"      // the registry of a cloud, where nodes have an identity, denies access
	ClusterRegistry    TroubleKind = "ClusterRegistry"    // the registry of OpenShift denies access to a project
	CredentialsExpired TroubleKind = "CredentialsExpired" // the credentials for the registry have expired
	ImageNotFound      TroubleKind = "ImageNotFound"      // the registry lacks the image
	RepositoryNotFound TroubleKind = "RepositoryNotFound" // the registry lacks the repository of the image
	NoPlatform         TroubleKind = "NoPlatform"         // the image is for other platforms
	ShortName          TroubleKind = "ShortName"          // the image's name has no registry, and the node does not choose one
	NotOnNode          TroubleKind = "NotOnNode"          // the image is not on the node, and imagePullPolicy is Never
	Unreachable        TroubleKind = "Unreachable"        // the registry does not answer
	RegistryNoDNS      TroubleKind = "RegistryNoDNS"      // no name server answers for the host name of the registry
	RegistryUnknown    TroubleKind = "RegistryUnknown"    // the host name of the registry has no address
	RegistryOfService  TroubleKind = "RegistryOfService"  // the registry is named as a Service, which nodes do not know
	ProxyDown          TroubleKind = "ProxyDown"          // the proxy of the node does not answer
	RegistryPlain      TroubleKind = "RegistryPlain"      // the registry has no TLS
	RegistryTLS        TroubleKind = "RegistryTLS"        // the registry's certificate is not accepted
	RegistryExpired    TroubleKind = "RegistryExpired"    // the registry's certificate has expired, or is not valid yet
	RegistryFails      TroubleKind = "RegistryFails"      // the registry responds with an internal error
	RegistryPolicy     TroubleKind = "RegistryPolicy"     // a policy of the registry blocks the image
	Signature          TroubleKind = "Signature"          // the signature of the image is missing or invalid
	LayerDamaged       TroubleKind = "LayerDamaged"       // a layer arrives incomplete, or is not the one of the manifest
	ContentMissing     TroubleKind = "ContentMissing"     // the node's container runtime has lost a layer
	WebPage            TroubleKind = "WebPage"            // something else than the registry answers
	OldManifest        TroubleKind = "OldManifest"        // the image has manifest schema 1
	BlobsDenied        TroubleKind = "BlobsDenied"        // the server that has the layers denies access
	NoDiskSpace        TroubleKind = "NoDiskSpace"        // the node has no disk space for the image
	PullsThrottled     TroubleKind = "PullsThrottled"     // the kubelet limits the rate of pulls
	NotOfficial        TroubleKind = "NotOfficial"        // Docker Hub has no official image of the name
	HubDenied          TroubleKind = "HubDenied"          // Docker Hub denies access, or has no such repository
	PublicDenied       TroubleKind = "PublicDenied"       // a registry that is public denies the node access
	UnpackDenied       TroubleKind = "UnpackDenied"       // the node may not set what a layer has
	DiskFails          TroubleKind = "DiskFails"          // the disk of the node fails
	PullCanceled       TroubleKind = "PullCanceled"       // the pull took too long, or the container runtime was restarted
	Unexplained        TroubleKind = "Unexplained"        // the image is not pulled, and no message says why
	Image              TroubleKind = "Image"              // other trouble with an image
)

// images are messages of containerd, CRI-O and the kubelet about images that they cannot pull.
var images = []row[TroubleKind]{
	{
		kind:     RateLimit,
		patterns: re(`(?i)toomanyrequests|too many requests|pull rate limit|rate limit exceeded|\b429\b`),
		brief:    "rate limit",
		text:     "cannot be pulled: the registry's rate limit is exceeded",
		advice:   "pull the image with an account, which has a higher limit (a Secret in {secrets}), or from a mirror of {registry}; or wait until the limit allows pulls again, on Docker Hub after 6 hours at most" + retried,
	},
	{
		kind:     PullsThrottled,
		patterns: re(`pull QPS exceeded`),
		brief:    "pulls throttled",
		text:     "is not pulled yet, because the kubelet limits how often it pulls (registryPullQPS)",
		advice:   "raise registryPullQPS and registryBurst in the configuration of the kubelets if this is frequent" + retried,
	},
	{
		kind:     NotOnNode,
		patterns: re(`is not present with pull policy of Never`),
		brief:    "not on the node",
		text:     "is not present on {node}, and imagePullPolicy is Never",
		advice:   "load the image onto {node} ({load}), or {recreate} with imagePullPolicy IfNotPresent, with which the kubelet pulls it from its registry",
	},
	{
		kind: NoPlatform,
		patterns: re(`(?i)no matching manifest for (?P<detail>[\w/.]+)`, `(?i)no image found in (?:manifest list|image index) for (?P<detail>architecture "[^"]+".*)`,
			`(?i)(?P<detail>image operating system "linux") cannot be used|no match for platform|no supported platform found|does not match the specified platform|cannot be used on this platform|-based image is incompatible with a \S+ host`),
		complete: true, brief: "no image for the platform",
		text:   "cannot be pulled: it lacks the platform of {node}{(platform)}",
		advice: "have the pods run on nodes of its platform (nodeSelector, such as kubernetes.io/os: linux or kubernetes.io/arch), or run an image for {platform}, such as one built with docker buildx build --platform",
	},
	{
		kind:     Signature,
		patterns: re(`(?i)source image rejected: (?P<detail>.+)`, `(?i)signature ?validation ?failed|signature (?:was|is) required|invalid signature|no signature exists`),
		keepsEnd: true, brief: "signature",
		text:   "cannot be pulled: its signature is not accepted",
		advice: "sign the image, or correct the signature policy of the nodes",
	},
	{
		kind:     NoDiskSpace,
		patterns: re(`no space left on device`),
		brief:    "no disk space",
		text:     "cannot be pulled: the node has no disk space left for it",
		advice:   "free disk space on {node}, enlarge its disk, or have the pod run on a node with a larger one; or run a smaller image",
	},
	{
		kind: LayerDamaged,
		patterns: re(`failed size validation: (?P<detail>\d+ != \d+)`, `(?P<detail>unexpected commit digest \S+ expected \S+):`,
			`(?P<detail>filesystem layer verification failed for digest \S+)`, `(?P<detail>unexpected end of archive|gzip: invalid (?:checksum|header))`),
		keepsEnd: true, brief: "damaged layer",
		text:   "cannot be pulled: a layer arrives truncated or damaged",
		advice: "check the registry, and the proxies and mirrors between it and the node: one of them truncates or changes the download" + retried,
	},
	{
		kind:     ContentMissing,
		patterns: re(`content digest \S+: not found|failed to get reader from content store`),
		brief:    "layer lost on the node",
		text:     "cannot be unpacked: the container runtime of its node has lost a layer",
		advice:   "remove the image from {node} (crictl rmi) and restart its container runtime, so that it pulls the layers again, or have the pod run on another node",
	},
	{
		kind:     WebPage,
		patterns: re(`unexpected media type text/html`),
		brief:    "no registry",
		text:     "cannot be pulled: a web page comes in place of its registry's answer",
		advice:   "check the name of the registry, and the proxies between it and the node, one of which may ask for a login; then remove the image from {node} (crictl rmi)",
	},
	{
		kind:     OldManifest,
		patterns: re(`media type "[^"]*manifest\.v1\+\w+" is no longer supported|[Ss]chema ?1 .*(?:not|no longer) supported`),
		brief:    "old manifest",
		text:     "cannot be pulled: its manifest has the old schema 1, which the container runtime of the node no longer supports",
		advice:   "run a newer version of the image; or pull this one with a tool that still can, push it again in the current format, and run that",
	},
	{
		kind:     BlobsDenied,
		patterns: re(`unexpected status code https?://(?P<name>[^/\s]+)/(?:[^v]|v[^2])\S*: 40[13]\b`),
		brief:    "layers denied",
		text:     "cannot be pulled: {name}, which has its layers, denies access",
		advice:   "let the nodes download from {name}: a proxy, a firewall or an expired signature (the clock of {node}) may be in the way" + retried,
	},
	{
		kind:     NotOfficial,
		patterns: re(`pull access denied for [^/\s,]+,`, `"docker\.io/library/[^"]+": .*(?:pull access denied|insufficient_scope|authorization failed)`),
		brief:    "image not found",
		text:     "cannot be pulled: Docker Hub has no official image of its name, which has no registry",
		advice:   "give the name of the image with its registry; or, if it was built locally, load it onto {node} ({load}), with imagePullPolicy IfNotPresent or Never" + retried,
	},
	{
		kind: HubDenied, yieldsTo: []TroubleKind{RateLimit, NotOfficial, CredentialsExpired},
		patterns: re(`pull access denied for [^/\s,.:]+/`, `(?:^|\s)docker\.io/[^\s"]+: .*access to the resource is denied`, `"docker\.io/[^"]+": .*(?:pull access denied|insufficient_scope|authorization failed)`),
		brief:    "access denied",
		text:     "cannot be pulled: Docker Hub{unnamed} denied access",
		note:     "the repository does not exist there, or credentials are missing or wrong",
		bareNote: "the repository does not exist there, or credentials are missing (no imagePullSecrets)",
		advice: "if the image was built locally, push it to a registry and put that in its name, or load it onto {node} ({load}), with imagePullPolicy IfNotPresent or Never; " +
			"if it is private on Docker Hub, {give credentials}" + retried,
	},
	{
		kind:     PublicDenied,
		patterns: re(`(?i)(?P<name>registry\.k8s\.io|k8s\.gcr\.io)/\S+.*\b(?:403|forbidden)\b`, `(?i)/k8s-artifacts-prod/\S+.*\b(?:403|forbidden)\b`),
		brief:    "access denied",
		text:     "cannot be pulled: its registry, which is public, denies {node} access",
		advice:   "pull it from a mirror, or copy it to a registry of your own: the registry, or a proxy before it, blocks the address of {node}, so that credentials do not help" + retried,
	},
	{
		kind:     UnpackDenied,
		patterns: re(`failed to (?:extract|apply) layer .*: operation not permitted`, `(?i)error processing tar file.*: (?:operation not permitted|lchown .*: invalid argument)`),
		brief:    "unpacking denied",
		text:     "cannot be unpacked: {node} may not set owners, capabilities or devices of its files",
		advice:   "run another version of the image, or have the pod run on a node that is not rootless, nor in a container: there, some owners and capabilities of files cannot be set",
	},
	{
		kind:     DiskFails,
		patterns: re(`(?P<detail>/var/lib/\S+: (?:input/output error|read-only file system))`),
		brief:    "node's disk fails",
		text:     "cannot be unpacked: the disk of {node} fails",
		advice:   "check the disk of {node}, and the space on the volume of its images (dmesg, df), or have the pod run on another one" + retried,
	},
	{
		kind:     PullCanceled,
		patterns: re(`context canceled$`),
		brief:    "pull canceled",
		text:     "is not pulled yet: its node canceled the attempt, which took too long or was interrupted",
		advice:   "check how fast {node} downloads from {registry}; have the image on the nodes before, or run a smaller one" + retried,
	},
	{
		kind:     RegistryPlain,
		patterns: re(`server gave HTTP response to HTTPS client`),
		complete: true, brief: "registry without TLS",
		text:   "cannot be pulled: its registry has no TLS",
		advice: "have the container runtime of the nodes use http for {registry} (containerd: /etc/containerd/certs.d/{registry}/hosts.toml, K3s: registries.yaml, CRI-O: insecure in registries.conf), or give the registry a certificate" + retried,
	},
	{
		kind:     RegistryExpired,
		patterns: re(`x509: certificate has expired or is not yet valid`),
		complete: true, brief: "certificate expired",
		text:   "cannot be pulled: its registry's certificate is expired or not yet valid",
		advice: "have the certificate of {registry} renewed, or correct the clock of {node}, which the message has" + retried,
	},
	{
		kind: RegistryTLS, yieldsTo: []TroubleKind{RegistryPlain, RegistryExpired},
		patterns: re(`x509: (?P<detail>.+)`, `tls: |certificate `),
		keepsEnd: true, brief: "TLS of the registry",
		text: "cannot be pulled: TLS to its registry failed",
		advice: "have the container runtime of {node} trust the authority of the certificate (ca in /etc/containerd/certs.d/{registry}/hosts.toml of containerd; registries.yaml of K3s), " +
			"or correct the certificate: its names, its dates and the clock of {node}" + retried,
	},
	{
		kind:     ProxyDown,
		patterns: re(`proxyconnect tcp: dial tcp:? (?:lookup )?(?P<name>\S+?):? (?:on \S+ )?(?P<detail>.*)`),
		brief:    "proxy unreachable",
		text:     "cannot be pulled: proxy {name} of its node cannot be reached",
		advice:   "correct the proxy {name} in the environment of the container runtime of {node} (HTTPS_PROXY), or add {registry} to its NO_PROXY" + retried,
	},
	{
		kind: Unreachable,
		patterns: re(`(?:"https?://(?P<name>[^/"]+)/[^"]*".*?)?(?P<detail>dial tcp \S+ (?:connect: )?[a-z/ ]+)$`, serverAway,
			`context deadline exceeded|Client\.Timeout|request canceled|(?:: |unexpected )EOF$|proxyconnect`),
		yieldsTo: []TroubleKind{ProxyDown, RegistryTLS, RegistryExpired, RegistryPlain, RegistryUnknown, RegistryNoDNS, RegistryOfService},
		keepsEnd: true, brief: "registry unreachable",
		text:   "cannot be pulled: its registry{in brackets} cannot be reached",
		advice: "check whether {node} reaches the registry{in brackets}: its firewall, and the proxy of its container runtime; and whether the registry is up, or use a mirror of it" + retried,
	},
	{
		kind: RegistryUnknown, yieldsTo: []TroubleKind{RegistryOfService, ProxyDown, RegistryNoDNS},
		patterns: re(`lookup (?P<name>\S+?)(?: on \S+)?: `),
		brief:    "unknown registry",
		text:     "cannot be pulled: the host name of its registry, {name}, cannot be resolved on the node",
		advice:   "correct the name of the registry, or the DNS of {node}, which does not use that of the cluster: names of Services do not work there" + retried,
	},
	{
		kind: RegistryNoDNS, yieldsTo: []TroubleKind{RegistryOfService},
		patterns: re(`lookup \S+ on (?P<name>\S+?)(?::53)?: (?:\w+ udp |i/o timeout|.*\b(?:refused|unreachable|no route))`),
		brief:    "no DNS on the node",
		text:     "cannot be pulled: name server {name} does not answer",
		advice:   "check whether the name server in /etc/resolv.conf of {node} runs, and whether the node can reach it" + retried,
	},
	{
		kind:     RegistryOfService,
		patterns: re(`lookup (?P<name>\S+\.svc(?:\.\S+?)?|\S+\.cluster\.local)\.?(?: on \S+)?: `),
		brief:    "registry is a Service",
		text:     "cannot be pulled: nodes cannot resolve its registry, a Service",
		advice:   "use an address of the registry that nodes can resolve, as they do not use the DNS of the cluster, such as an ingress, or localhost and a NodePort of its Service; or give the container runtime of the nodes a mirror for {name} (hosts.toml, registries.yaml)",
	},
	{
		kind:     Unauthorized,
		patterns: re(rightDenied, `access to the requested resource`),
		// Docker Hub tells some clients of its rate limit as unauthorized.
		yieldsTo: []TroubleKind{RateLimit, Unreachable, CloudRegistry, PublicDenied, NotOfficial, HubDenied, CredentialsExpired, RepositoryNotFound, BlobsDenied, Unauthenticated, ClusterRegistry, UnpackDenied},
		brief:    "access denied",
		text:     "cannot be pulled: the registry denied access",
		note:     "credentials are missing or wrong, or the repository does not exist",
		bareNote: "credentials are missing (no imagePullSecrets), or the repository does not exist",
		advice:   giveCredentials,
	},
	{
		kind: Unauthenticated, yieldsTo: []TroubleKind{RateLimit, CloudRegistry, ClusterRegistry, CredentialsExpired, HubDenied},
		patterns: re(`(?i)\b401 Unauthorized|no basic auth credentials|authentication required|invalid username/password`),
		brief:    "access denied",
		text:     "cannot be pulled: the registry denied access",
		note:     "credentials are missing or wrong",
		bareNote: "credentials are missing: the pod has no imagePullSecrets",
		advice:   giveCredentials,
	},
	{
		kind:     ClusterRegistry,
		patterns: re(`image-registry\.openshift-image-registry\.svc:5000/(?P<name>[^/\s]+)/\S+: .*(?:authentication required|unauthorized|denied)`),
		brief:    "access denied",
		text:     "cannot be pulled: the registry of the cluster denies access to project {name}",
		advice:   "let {account} pull images of project {name} (role system:image-puller), and check the image's name" + retried,
	},
	{
		kind: CloudRegistry, yieldsTo: []TroubleKind{RateLimit, CredentialsExpired, RepositoryNotFound, PublicDenied},
		patterns: re(`(?P<name>[-.\w]+\.amazonaws\.com|[-\w]+\.azurecr\.io|[-\w]+-docker\.pkg\.dev|(?:[a-z]+\.)?gcr\.io)\b` +
			`.*(?i:\b40[13]\b|unauthorized|no basic auth credentials|\bdenied\b)`),
		brief:  "access denied",
		text:   "cannot be pulled: registry {name} denied access",
		advice: "let the identity of the nodes, or the account in imagePullSecrets, pull from {name} ({role}), and check the image's name",
	},
	{
		kind:     CredentialsExpired,
		patterns: re(`(?i)token (?:(?:has|is) )?expired`),
		brief:    "expired credentials",
		text:     "cannot be pulled: the credentials for its registry, usually the token of a pull secret, have expired",
		advice:   "put a new token into the Secret in imagePullSecrets (a token of Amazon ECR is valid for 12 hours){?, and the kubelet retries automatically}; or let the identity of the nodes pull",
	},
	{
		kind:     RegistryFails,
		patterns: re(`(?i)\b50[0234]\b|internal server error|bad gateway|service unavailable`),
		keepsEnd: true, brief: "registry error",
		text:   "cannot be pulled: its registry answers with an error",
		advice: "check the registry" + retried,
	},
	{
		kind:     RegistryPolicy, // Harbor responds with 412, and containerd leaves out why.
		patterns: re(`(?P<detail>current image .+?) cannot be pulled due to configured policy`, `\b412 Precondition Failed`),
		keepsEnd: true, brief: "blocked by policy",
		text: "cannot be pulled: a policy of its registry blocks it",
		advice: "see the scan of the image in the registry, and the policies of its project there: push an image that they allow, or have the administrator of " +
			"the project change them" + retried,
	},
	{
		kind:     ImageNotFound,
		patterns: re(`(?i)manifest unknown|not found|manifest for \S+ not found|\b404\b`),
		yieldsTo: []TroubleKind{NoPlatform, Unauthorized, RepositoryNotFound, ContentMissing, WebPage}, // containerd ends "no match for platform in manifest" with "not found".
		brief:    "image not found",
		text:     "cannot be pulled: {tag} does not exist in the registry",
		advice:   "run an image that exists{tags}, or push this one" + retried,
	},
	{
		kind:     RepositoryNotFound,
		patterns: re(`(?i)name unknown|repository (?:with name )?\S+ (?:does not exist|not found)`),
		brief:    "repository not found",
		text:     "cannot be pulled: its repository does not exist in the registry",
		advice:   "correct the name of the image, or push it" + retried,
	},
	{
		kind: ShortName,
		patterns: re(`short name mode is enforcing, but image name (?P<name>\S+) returns`, `short-name "(?P<name>[^"]+)" did not resolve`,
			`short-name resolution enforced`),
		brief:  "no registry in name",
		text:   "cannot be pulled: its name has no registry, and its node does not choose one",
		advice: "{recreate} with the full name of the image, such as docker.io/library/busybox:1.36",
	},
	{
		kind:     Image,
		keepsEnd: true, brief: "image",
		text:   "cannot be pulled",
		advice: "the events of the pod have the whole message, and pulling the image on {node} shows the error again (crictl pull {image})" + retried,
	},
}

// giveCredentials is advice on a registry that denies access.
const giveCredentials = "{give credentials}; and check the image's name"

// roleOf returns the role that lets nodes pull from a registry of their cloud.
func roleOf(registry string) string {
	switch {
	case strings.HasSuffix(registry, ".amazonaws.com"):
		return "the policy AmazonEC2ContainerRegistryPullOnly; for a registry of another account, also the policy of the repository"
	case strings.HasSuffix(registry, ".azurecr.io"):
		return "the role AcrPull: az aks update --attach-acr"
	}
	return "the role roles/artifactregistry.reader"
}

// platformOfImage matches what a container runtime says about the platform that an image lacks, with its architecture and operating system.
var platformOfImage = lazyregexp.New(`architecture "?(\w+)"?(?:,.*)? OS "?(\w+)`)

// unexplained is an image that the kubelet does not pull, without a message that says why.
var unexplained = row[TroubleKind]{
	kind:   Unexplained,
	brief:  "no reason known",
	text:   "cannot be pulled",
	advice: "check first whether {tag} exists in the registry; if so, find the reason, which no event has{reports}, on {node}: in the log of its kubelet or container runtime, or by pulling the image there (crictl pull {image}); without a registry that has it, load it there ({load}), or set a mirror in the runtime's configuration",
}

// failedImage is the beginning of the kubelet's message about an image that it cannot pull.
var failedImage = lazyregexp.New(`^(?:Back-off pulling|Failed to pull|Failed to inspect|Container) image "([^"]*)"`)

// FailedImage returns the image that the kubelet cannot pull according to the message; "" if the message is about something
// else.
func FailedImage(message string) string { return failedImage.Group(strings.TrimSpace(message)) }

// PulledImage returns the image that a kubelet begins to pull, from the message of its event.
func PulledImage(message string) string {
	return strings.Trim(strings.TrimPrefix(message, "Pulling image "), `" `)
}

// OfImage returns the reason why an image cannot be pulled, from the reason and message of a waiting container, or from the
// message of an event; nil if it is unknown.
func OfImage(reason, message string) *Trouble {
	switch reason {
	case "ErrImageNeverPull":
		return &Trouble{Kind: NotOnNode}
	case "InvalidImageName":
		return nil // The reason is specific enough.
	case "SignatureValidationFailed":
		return &Trouble{Kind: Signature, Detail: lastWords(message)}
	}
	t := troubleIn(images, imageError(message))
	if (t == nil || t.Kind == Image) && (reason == "RegistryUnavailable" || callFailed.MatchString(message)) {
		t = &Trouble{Kind: Unreachable, Name: callFailed.Group(message), Detail: lastWords(message)}
	}
	return t
}

// callFailed matches an error of Go's HTTP client, which got no response: it is in front of why.
var callFailed = lazyregexp.New(`\b(?:Get|Head|Post) "?https?://([^/"\s]+)[^"\s]*: `)

// NoteImage adds what the name of the image says about a registry that denies access: Docker Hub may have no such repository.
func (t *Trouble) NoteImage(image string) {
	if t.IsDenied() && registryOf(image) == "docker.io" && strings.Contains(image, "/") {
		t.Kind = HubDenied
	}
}

// imageError returns the error of the runtime, without the name of the image before it, which may contain any words. Kubelets
// before 1.31 leave the error out.
func imageError(message string) string {
	message = strings.TrimSpace(message)
	if about := failedImage.FindString(message); about != "" {
		message = strings.TrimPrefix(message[len(about):], ": ")
	}
	return strings.TrimPrefix(message, "ErrImagePull: ")
}
