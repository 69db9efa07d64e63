package meaning

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Where is what a message about a pod leaves out, and its text and advice name.
type Where struct {
	// Node is the node of the pod, and Image the image of the container; "" if unknown.
	Node, Image string
	// Account is the ServiceAccount of the pod, and Secrets names the imagePullSecrets of the pod template. Architecture is the one of its
	// nodes, as far as its nodeSelector names it, and Memory the lowest memory limit with its container.
	Account, Secrets, Architecture, Memory string
	// Store is the SecretProviderClass of a volume, which may create Secrets, and RuntimeClass is the pod template's runtimeClassName. Either is "" if
	// not set.
	Store, RuntimeClass string
	// Lost are the names of the pull secrets that the kubelet does not find, as it lists them.
	Lost string
	// Reports is how often the kubelet has reported that it does not pull the image.
	Reports int32
}

// words are the keys of templates about a Where, each with its value.
func (w *Where) words() []string {
	account := wording.Join(" ", "its ServiceAccount", w.Account)
	secrets := "imagePullSecrets of the pod template, or of " + account
	give := "give the pods credentials for {registry}: a Secret of type kubernetes.io/dockerconfigjson (kubectl create secret docker-registry) in " + secrets
	if w.Secrets != "" {
		secrets = "imagePullSecrets of the pod template"
		give = fmt.Sprintf("check %s in %s: it needs an entry for {registry} with credentials that are valid and may pull the image",
			w.Secrets, secrets)
	}
	registry := cmp.Or(registryOf(w.plainImage()), "REGISTRY")
	reports := ""
	if w.Reports > 1 {
		reports = " (the kubelet reported the failure " + wording.Thousands(w.Reports) + " times)"
	}
	return []string{
		"{node}", w.node(), "{tag}", tagOf(w.Image), "{tags}", w.listTags(), "{image}", cmp.Or(w.plainImage(), "IMAGE"),
		"{account}", account, "{load}", w.load(), "{secrets}", secrets, "{lost}", w.Lost, "{(memory)}", wording.InBrackets(w.Memory), "{store}", w.Store, "{class name}", w.RuntimeClass, "{reports}", reports, "{registry}", registry, "{give credentials}", strings.ReplaceAll(give, "{registry}", registry),
		"{unnamed}", map[bool]string{true: " (its name has no registry)"}[registryOf(w.Image) == "docker.io" && !strings.HasPrefix(w.Image, "docker.io/")],
	}
}

// lostSecrets matches the kubelet's list of pull secrets that it does not find.
var lostSecrets = lazyregexp.New(`image pull secrets \(([-.\w, ]+)\)`)

// LostSecrets returns the pull secrets that the kubelet does not find, according to an event; "" for other events.
func LostSecrets(reason, message string) string {
	if reason != "FailedToRetrieveImagePullSecret" {
		return ""
	}
	return lostSecrets.Group(message)
}

func (w *Where) node() string {
	if w.Node == "" {
		return "its node"
	}
	return "node " + w.Node
}

// maxTag is the length of a tag that is named again after its image.
const maxTag = 40

// tagOf names what a registry does not find in a repository: a tag, or a digest.
func tagOf(image string) string {
	name, digest, _ := strings.Cut(image, "@")
	_, tag, _ := strings.Cut(name[strings.LastIndexByte(name, '/')+1:], ":")
	switch {
	case image == "":
		return "it"
	case digest != "":
		return "its digest"
	case len(tag) > maxTag: // The image before it has the tag, too.
		return "its tag"
	}
	return "its tag " + cmp.Or(tag, "latest")
}

// registryOf returns the registry of an image, "" for an unknown image.
func registryOf(image string) string {
	host, _, more := strings.Cut(image, "/")
	switch {
	case image == "":
		return ""
	case more && (strings.ContainsAny(host, ".:") || host == "localhost"):
		return host
	}
	return "docker.io"
}

// plain matches the name of an image that needs no quotes in a command.
var plain = lazyregexp.New(`^[a-z0-9][\w./:@-]*$`)

// plainImage returns the image if it may be a word of a command, or "".
func (w *Where) plainImage() string {
	if !plain.MatchString(w.Image) {
		return ""
	}
	return w.Image
}

// listTags returns the command that lists the tags of the image in brackets, "" for an image with a digest.
func (w *Where) listTags() string {
	if image := w.plainImage(); image != "" && !strings.Contains(image, "@") {
		slash := strings.LastIndexByte(image, '/') + 1
		name, tag, _ := strings.Cut(image[slash:], ":")
		rounded := ""
		if shortNumber.MatchString(tag) {
			rounded = fmt.Sprintf("; without quotes, YAML reads %s0 as the number %[1]s", tag)
		}
		return fmt.Sprintf(" (skopeo list-tags docker://%s lists its tags%s)", image[:slash]+name, rounded)
	}
	return ""
}

// shortNumber matches a tag that may be what YAML has left of a number.
var shortNumber = lazyregexp.New(`^\d+\.\d$`)

// nameFaults are the faults that make the name of an image invalid; {1} is the part of the name with the fault.
var nameFaults = []struct {
	image *lazyregexp.Regexp
	text  string
}{
	{lazyregexp.New(`(\$\{[^}]*\}?|\$\([^)]*\)?|\$\w+|\{\{.*\}\}|<[^>]*>|%\w+%)`), "nothing replaced the placeholder {1}"},
	{lazyregexp.New(`^([\w.+-]+://)`), "without {1}, as it has no scheme"},
	{lazyregexp.New(`^$|^[:@]|[^:]//`), "the registry, the repository or all of it is empty, as if a variable had no value"},
	{lazyregexp.New(`[:@]$`), "its tag is empty, as if a variable had no value"},
	{lazyregexp.New(`(\s)`), "without spaces or line breaks"},
	{lazyregexp.New(`^[^:@]*?/?([^/:@]*[A-Z][^/:@]*)(?:[:@/]|$)`), "in lowercase, except for the tag"},
	{lazyregexp.New(`:(\d+(?:\.\d+)?e\+\d+)$`), "its tag {1} is what YAML or Helm makes of a number: put the tag in quotes"},
	{lazyregexp.New(`:(v?\d+\.\d+\+)$`), "its tag {1} is the version of the cluster, which has a plus sign at some clouds: set a tag that exists"},
	{lazyregexp.New(`:([^/@]*[^\w./@-][^/@]*)$`), "its tag {1} has characters that are not allowed"},
}

// NameFault returns the fault of an invalid name of an image, "" if it is unknown.
func NameFault(image string) string {
	for _, f := range nameFaults {
		if found := f.image.FindStringSubmatch(image); found != nil {
			return wording.Insert(f.text, "{1}", wording.Shorten(strings.Join(found[1:], ""), maxDetail))
		}
	}
	return ""
}

// moves are repositories that have lost images, and advice on those that were there; {rest} is the rest of the image's name.
var moves = []struct {
	image  *lazyregexp.Regexp
	advice string
}{
	{
		lazyregexp.New(`^(?:docker\.io/)?bitnami(?:legacy)?/(kubectl):1\.(?:3[4-9]|[4-9]\d)`),
		"run {rest} of another publisher, such as docker.io/alpine/kubectl, or registry.k8s.io/kubectl, which has no shell; their tags have a patch version. Since 2025, Bitnami publishes no tag for this version, nor does docker.io/bitnamilegacy",
	},
	{
		lazyregexp.New(`^(?:docker\.io/)?bitnami/(.+)`),
		"run an image of another publisher, or docker.io/bitnamilegacy/{rest} for the time being: in 2025, Bitnami moved its images there, where they get no updates",
	},
	{lazyregexp.New(`^(?:docker\.io/)?bitnamilegacy/(.+)`), "run an image of another publisher: since 2025, docker.io/bitnamilegacy receives no new versions"},
	{lazyregexp.New(`^(?:docker\.io/)?(?:library/)?openjdk(?:[:@](.+))?$`), "run eclipse-temurin or another build of OpenJDK: docker.io/openjdk receives no new versions"},
	{lazyregexp.New(`^gcr\.io/kubebuilder/(.+)`), "run quay.io/brancz/{rest}, or a newer version of what needs it: gcr.io/kubebuilder has no images anymore"},
	{lazyregexp.New(`^k8s\.gcr\.io/(.+)`), "run registry.k8s.io/{rest}: since 2023, k8s.gcr.io receives no new versions"},
}

// moved returns advice on an image of a repository that has lost images, "" for others.
func (w *Where) moved() string {
	for _, m := range moves {
		if found := m.image.FindStringSubmatch(w.plainImage()); found != nil {
			return wording.Insert(m.advice, "{rest}", found[1])
		}
	}
	return ""
}

// loaders are the commands that load an image onto the nodes of local clusters, by the names of these nodes: the format has the image and
// the name of the cluster.
var loaders = []struct {
	node   *lazyregexp.Regexp
	format string
}{
	{lazyregexp.New(`^(kind(?:-[a-z0-9-]+)??)-(?:control-plane|worker)\d*$`), "kind load docker-image %s --name %s"},
	{lazyregexp.New(`^(minikube)(?:-m\d+)?$`), "minikube image load %s -p %s"},
	{lazyregexp.New(`^k3d-(.+)-(?:server|agent)-\d+$`), "k3d image import %s -c %s"},
}

// load returns the command that loads the image onto the node.
func (w *Where) load() string {
	for _, l := range loaders {
		if cluster := l.node.Group(w.Node); cluster != "" {
			return fmt.Sprintf(l.format, cmp.Or(w.plainImage(), "IMAGE"), cluster)
		}
	}
	return "ctr -n k8s.io images import FILE there, as root; k3s ctr on K3s"
}
