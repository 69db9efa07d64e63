package eventtext

import (
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// meaning maps messages, whichever component writes them, to a TroubleKind.
type meaning struct {
	kind explain.TroubleKind
	// pattern may have the groups name, key, object, volume and said; the group said is the most specific part of the
	// message.
	pattern *lazyregexp.Regexp
	// says keeps the end of the message, for kinds that are less specific than the message.
	says bool
}

// ofImages are messages of containerd, CRI-O and the kubelet about images that they cannot pull. The first match counts:
// containerd ends "no match for platform in manifest" with "not found", and Docker Hub its rate limit with "unauthorized" for
// some clients.
var ofImages = []meaning{
	{explain.TroubleRateLimit, lazyregexp.New(`(?i)toomanyrequests|too many requests|pull rate limit|rate limit exceeded|\b429\b`), false},
	{explain.TroublePullsThrottled, lazyregexp.New(`pull QPS exceeded`), false},
	{explain.TroubleNotOnNode, lazyregexp.New(`is not present with pull policy of Never`), false},
	{explain.TroubleNoPlatform, lazyregexp.New(`(?i)no match for platform|no matching manifest for|no image found in (?:manifest list|image index) for architecture|does not match the specified platform|cannot be used on this platform`), false},
	{explain.TroubleSignature, lazyregexp.New(`(?i)signature ?validation ?failed|source image rejected|signature (?:was|is) required|invalid signature|no signature exists`), true},
	{explain.TroubleNoDiskSpace, lazyregexp.New(`no space left on device`), false},
	{explain.TroubleRegistryTLS, lazyregexp.New(`x509: |tls: |HTTP response to HTTPS client|certificate `), true},
	{explain.TroubleUnreachable, lazyregexp.New(`no such host|name resolution|server misbehaving|connection refused|no route to host|network is unreachable|i/o timeout|TLS handshake timeout|connection reset|context deadline exceeded|Client\.Timeout|request canceled|(?:: |unexpected )EOF$|proxyconnect`), true},
	{explain.TroubleUnauthorized, lazyregexp.New(`(?i)unauthorized|authorization failed|authentication required|no basic auth credentials|access denied|access forbidden|access to the requested resource|requested access to the resource is denied|\bdenied: |permission .*denied|\b40[13]\b|insufficient_scope`), false},
	{explain.TroubleRegistryFails, lazyregexp.New(`(?i)\b50[0234]\b|internal server error|bad gateway|service unavailable`), true},
	{explain.TroubleImageNotFound, lazyregexp.New(`(?i)manifest unknown|name unknown|not found|repository does not exist|manifest for \S+ not found|\b404\b`), false},
}

// ofVolumes are messages of the kubelet, the attach/detach controller and CSI drivers about volumes.
var ofVolumes = []meaning{
	{explain.TroubleMultiAttach, lazyregexp.New(`^Multi-Attach error for volume "(?P<volume>[^"]*)" Volume is already (?P<said>.+)`), false},
	{explain.TroubleDriverMissing, lazyregexp.New(`driver name (?P<name>\S+) not found in the list of registered CSI drivers`), false},
	{explain.TroubleDriverMissing, lazyregexp.New(`CSINode \S+ does not contain driver (?P<name>\S+)`), false},
	{explain.TroubleAttacher, lazyregexp.New(`waiting for external-attacher of (?P<name>\S+) CSI driver`), false},
	{explain.TroubleKeyMissing, lazyregexp.New(`references non-existent (?P<object>config|secret) key: (?P<key>[-._a-zA-Z0-9]+)`), false},
	{explain.TroubleObjectMissing, lazyregexp.New(`(?i)(?P<object>configmap|secret|persistentvolumeclaim)s? "(?P<name>[^"]+)" not found`), false},
	{explain.TroubleHostPath, lazyregexp.New(`hostPath type check failed: (?P<said>.+)`), true},
	{explain.TroubleMountDenied, lazyregexp.New(`(?i)access denied by server|permission ?denied|operation not permitted`), true},
	{explain.TroubleMountTimeout, lazyregexp.New(`timed out waiting for the condition$|context deadline exceeded$|DeadlineExceeded`), false},
	{explain.TroubleVolume, lazyregexp.New(`.`), true},
}

// ofSandboxes are messages of the kubelet and network plugins about the sandbox of a pod.
var ofSandboxes = []meaning{
	{explain.TroubleNoAddress, lazyregexp.New(`(?i)failed to assign an IP address|no (?:more )?(?:free|available) (?:IP|address)|no IP addresses? (?:is |are )?(?:available|left)|no IPs? available|no more free affine blocks|no unallocated|range is full|address pool .*exhausted|insufficient .*(?:IP|address)|failed to request IPs|failed to allocate (?:IP|address)|IPAM .*(?:full|exhausted)`), false},
	{explain.TroubleNetworkNotReady, lazyregexp.New(`(?i)cni plugin not initialized|cni config uninitialized|network is not ready|network plugin is not ready|NetworkPluginNotReady`), false},
	{explain.TroubleNetworkPlugin, lazyregexp.New(`failed to find plugin "(?P<name>[^"]+)" in path`), true},
	{explain.TroubleNoRuntime, lazyregexp.New(`(?i)no runtime (?:handler )?for "(?P<name>[^"]+)" is configured|failed to find runtime handler (?P<name2>\S+)|runtime handler "?(?P<name3>[^" ]+)"? not supported`), false},
	{explain.TroubleSandboxImage, lazyregexp.New(`(?i)failed to (?:get|pull|start) (?:sandbox )?image "(?P<name>[^"]+)"`), true},
	{explain.TroubleNetworkPlugin, lazyregexp.New(`(?i)failed to set ?up (?:pod )?network|failed to setup network for sandbox|network for (?:pod|sandbox)|\bcni\b`), true},
	{explain.TroubleSandbox, lazyregexp.New(`.`), true},
}

// ofWebhooks are messages of the API server about a webhook that it cannot call.
var ofWebhooks = []meaning{
	{explain.TroubleNoEndpoints, lazyregexp.New(`no endpoints available for service "(?P<name>[^"]+)"`), false},
	{explain.TroubleNoService, lazyregexp.New(`services? "(?P<name>[^"]+)" not found`), false},
	{explain.TroubleRefused, lazyregexp.New(`(?P<said>dial tcp .*: connection refused)|connection refused`), true},
	{explain.TroubleCertificate, lazyregexp.New(`(?P<said>x509: .+)|tls: `), true},
	{explain.TroubleNoHost, lazyregexp.New(`(?P<said>dial tcp: .*no such host)|no such host|name resolution|server misbehaving`), true},
	{explain.TroubleNoAnswer, lazyregexp.New(`(?i)context deadline exceeded|i/o timeout|Client\.Timeout|TLS handshake timeout|request canceled`), true},
}

// plugin matches the name of the network plugin that failed.
var plugin = lazyregexp.New(`plugin type="([^"]+)"|networkPlugin cni failed|(?:^|[ "])(aws-cni|calico|cilium-cni|flannel|weave-net|azure-vnet|multus-cni)(?:[ "]|$)`)

// webhookService matches the Service in the URL of a webhook.
var webhookService = lazyregexp.New(`Post "?https://([-a-z0-9]+)\.([-a-z0-9]+)\.svc\b`)

// aboutVolume matches the volume in a message of the kubelet.
var aboutVolume = lazyregexp.New(`for volume "([^"]+)"|unmounted volumes=\[([^\] ]+)`)

// ImageTrouble returns the reason why an image cannot be pulled, from the reason and message of a waiting container, or from
// the message of an event; nil if it is unknown.
func ImageTrouble(reason, message string) *explain.Trouble {
	switch reason {
	case "ErrImageNeverPull":
		return &explain.Trouble{Kind: explain.TroubleNotOnNode}
	case explain.InvalidImageName:
		return nil // The reason is specific enough.
	case "SignatureValidationFailed":
		return &explain.Trouble{Kind: explain.TroubleSignature, Said: lastWords(message)}
	}
	t := troubleIn(ofImages, pullError(message))
	if t == nil && reason == "RegistryUnavailable" {
		t = &explain.Trouble{Kind: explain.TroubleUnreachable}
	}
	return t
}

// failedImage is the beginning of the kubelet's message about an image that it cannot pull.
var failedImage = lazyregexp.New(`^(?:Back-off pulling|Failed to pull|Container) image "([^"]+)"`)

// FailedImage returns the image that the kubelet cannot pull according to the message; "" if the message is about something
// else.
func FailedImage(message string) string {
	if m := failedImage.FindStringSubmatch(strings.TrimSpace(message)); m != nil {
		return m[1]
	}
	return ""
}

// pullError returns the error of the runtime in the kubelet's message, without the name of the image, which may contain any
// words; "" if there is none, as in messages of kubelets before 1.31.
func pullError(message string) string {
	message = strings.TrimSpace(message)
	if about := failedImage.FindString(message); about != "" {
		message = strings.TrimPrefix(message[len(about):], ": ")
	}
	return strings.TrimPrefix(message, "ErrImagePull: ")
}

// SaysWhy reports whether a warning explains why its pod does not start. Some warnings only report a timeout, or an error
// that another event explains; the warnings of autoscalers are about nodes that do not exist.
func SaysWhy(e *explain.Event) bool {
	switch e.Reason {
	case "Failed", "BackOff":
		return !strings.HasPrefix(e.Message, "Error: ")
	case "FailedMount", "FailedAttachVolume", "FailedMapVolume":
		t := StartTrouble(e.Reason, e.Message)
		return t == nil || t.Kind != explain.TroubleMountTimeout
	}
	return AutoscalerOf(e) == nil
}

// SameStage reports whether two warnings are about the same stage of a pod's start, so that one may explain the other: a pod
// with a node is past the warnings of its scheduler.
func SameStage(x, y *explain.Event) bool {
	return (x.Reason == "FailedScheduling") == (y.Reason == "FailedScheduling")
}

// StartTrouble returns the meaning of a warning of the kubelet or the attach/detach controller about a pod with a node that
// does not start, from the reason and message of the warning; nil for other reasons.
func StartTrouble(reason, message string) *explain.Trouble {
	switch reason {
	case "FailedMount", "FailedAttachVolume", "FailedMapVolume":
		t := troubleIn(ofVolumes, message)
		if m := aboutVolume.FindStringSubmatch(message); t != nil && t.Volume == "" && m != nil {
			t.Volume = m[1] + m[2]
		}
		return t
	case "FailedCreatePodSandBox", "NetworkNotReady":
		t := troubleIn(ofSandboxes, message)
		if m := plugin.FindStringSubmatch(message); t != nil && t.Name == "" && m != nil {
			switch t.Kind {
			case explain.TroubleNoAddress, explain.TroubleNetworkPlugin, explain.TroubleNetworkNotReady:
				t.Name = m[1] + m[2]
			}
		}
		return t
	}
	return nil
}

// WebhookTrouble returns the reason why the API server cannot call a webhook; nil if it is unknown. Its Name is the Service.
func WebhookTrouble(message string) *explain.Trouble {
	t := troubleIn(ofWebhooks, message)
	if m := webhookService.FindStringSubmatch(message); t != nil && t.Name == "" && m != nil {
		t.Name = m[1]
	}
	return t
}

// objects maps the kinds of objects in messages.
var objects = map[string]string{"configmap": "ConfigMap", "config": "ConfigMap", "secret": "Secret", "persistentvolumeclaim": "claim"}

// troubleIn returns the first of the meanings that matches the message; nil if none does.
func troubleIn(all []meaning, message string) *explain.Trouble {
	message = strings.Join(strings.Fields(message), " ")
	for i := range all {
		match := all[i].pattern.FindStringSubmatch(message)
		if match == nil {
			continue
		}
		t := &explain.Trouble{Kind: all[i].kind}
		for n, group := range all[i].pattern.SubexpNames() {
			setField(t, strings.TrimRight(group, "23"), match[n])
		}
		if t.Said = strings.TrimRight(t.Said, " ."); t.Said == "" && all[i].says {
			t.Said = lastWords(message)
		}
		return t
	}
	return nil
}

// setField sets the field that a group of a pattern is named after.
func setField(t *explain.Trouble, group, value string) {
	switch {
	case value == "":
	case group == "name":
		t.Name = value
	case group == "key":
		t.Key = value
	case group == "volume":
		t.Volume = value
	case group == "said":
		t.Said = value
	case group == "object":
		t.Object = objects[strings.ToLower(value)]
	}
}

// maxLastWords is the maximum length of the result of lastWords, in bytes.
const maxLastWords = 100

// wrapping matches the prefixes that the kubelet and the runtime put before an error: the failed call, its volume or plugin.
var wrapping = lazyregexp.New(`^.* desc = |^\S+ failed for volume "[^"]+" : |^.*plugin type="[^"]+"(?: name="[^"]+")? failed \(\w+\): |^.* Output: `)

// lastWords returns the end of a message that wraps errors, the most specific part: as many of the parts separated by colons
// as fit, and at least one.
func lastWords(message string) string {
	message = strings.TrimRight(strings.Join(strings.Fields(message), " "), " .")
	for before := wrapping.FindString(message); before != "" && before != message; before = wrapping.FindString(message) {
		message = message[len(before):]
	}
	parts := strings.Split(message, ": ")
	out := parts[len(parts)-1]
	for i := len(parts) - 2; i >= 0 && len(out)+len(parts[i])+2 <= maxLastWords; i-- {
		out = parts[i] + ": " + out
	}
	return out
}
