package meaning

import (
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// setupWords are words of messages about containers that cannot be set up, with advice on what they are about. The first that matches counts.
var setupWords = []struct {
	words  *lazyregexp.Regexp
	advice string
}{
	{lazyregexp.New(`(?i)capabilit|seccomp|apparmor|selinux|sysctl|privilege|keyring|user ?ns|id-?map`), "compare the securityContext of container {container} and of its pod with what the kernel and the container runtime of the node support, or have the pod run on another one"},
	{lazyregexp.New(`(?i)\busers?\b|\broot\b|\b[ug]id\b|/etc/passwd|\bgroups?\b`), "correct the user of container {container}{user}: runAsUser, runAsGroup and runAsNonRoot in securityContext, and USER of image {image}"},
	{lazyregexp.New(`(?i)\bdevices?\b|\bgpus?\b|nvidia|\bcdi\b`), "check the driver and the device plugin of the node{devices}, or have the pod run on another one"},
	{lazyregexp.New(`(?i)\bmemory\b|\boom\b|\bEOF\b|broken pipe|\bkilled\b`), "{memory}"},
	{lazyregexp.New(`(?i)\btime(?:d |-)?out|deadline|\breserved\b|\balready\b|in use\b|in progress|\bbusy\b|unavailable|not running`), "wait; if it lasts, restart the container runtime of the node, and check its disk, which is slow or overloaded most of the time" + retried},
	{lazyregexp.New(`(?i)\bimages?\b|manifest|snapshot|\blayers?\b`), "remove image {image} from the node (crictl rmi) and have it pulled again, or have the pod run on another node"},
	{lazyregexp.New(`(?i)\bcommand\b|entrypoint|executable|\bexec\b|\bargs?\b`), "correct command and args of container {container}, or run an image whose ENTRYPOINT starts: that of the container is {image}"},
	{lazyregexp.New(`(?i)\bmount|rootfs|sub-?path|propagation`), "if its pods start on other nodes, see what the container runtime logs on this one; otherwise correct the volumeMounts of container {container}"},
}

// SetupAdvice returns advice on an unknown message about a container that cannot be set up: on what of the pod template it names, or by its words; "" for others.
func SetupAdvice(message string, c Container) string {
	for _, found := range givenWords.FindAllStringSubmatch(message, -1) {
		word := strings.Join(found[1:], "")
		for i := range c.Mounts {
			if m := &c.Mounts[i]; word == m.Volume || ofKubelet.Group(word) == m.Volume || isBelow(word, m.Directory) || strings.Trim(m.Path, "/") != "" && isBelow(word, m.Path) {
				return "correct " + m.place(c) + prefixed(": its path on the node is ", m.Directory)
			}
		}
		if place, isWhole := c.origin(word); isWhole {
			return "correct " + asWord(word) + " in " + place
		}
	}
	for _, row := range setupWords {
		if row.words.MatchString(message) {
			return wording.Insert(row.advice, "{container}", c.Name, "{image}", c.Image, "{user}", c.userText(), "{memory}", runtimeMemory(c, ""),
				"{devices}", prefixed(" for ", wording.Enumerate(c.Devices, "and")))
		}
	}
	return ""
}
