// Package meaning recognizes messages of a cluster, and says what they mean. Each subject has a file, such as image.go, and
// each kind of trouble is one row in it: the patterns that recognize it, its text for a column, its clause, and its advice.
// The rows know nothing of reports: they take a reason and a message, and return a Trouble.
//
// To add a kind, add a real message to the list of its subject in testdata/catalog, and a row to the file of the subject. If two rows
// match the same message, one of them has to yield to the other; a test fails otherwise.
package meaning

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Trouble is the meaning of a message about a pod that does not start, or that is not created.
type Trouble struct {
	Kind TroubleKind `json:"kind"`
	// Object is the kind of object that is missing or lacks Key: ConfigMap, Secret or claim. Name is its name, or that of what the
	// message is about, such as a CSI driver, a Service or a node, or the kubelet's reason for a refusal; "" if the message names none.
	Object string `json:"object,omitempty"`
	Name   string `json:"name,omitempty"`
	// Namespace is the namespace of the object, "" if neither the message names it nor the pod is known.
	Namespace string `json:"namespace,omitempty"`
	Key       string `json:"key,omitempty"`
	// Volume is the name of the volume that the message is about.
	Volume string `json:"volume,omitempty"`
	// NFS is the server and the path of the volume, "" for other volumes.
	NFS string `json:"nfs,omitempty"`
	// Class is the SecretProviderClass of the volume, "" if it has none.
	Class string `json:"class,omitempty"`
	// Detail is the most specific part of the message; "" if Kind is as specific.
	Detail string `json:"detail,omitempty"`
	// NoPullSecrets reports whether the registry denies access to a pod without imagePullSecrets.
	NoPullSecrets bool `json:"noPullSecrets,omitempty"`
	// Source is the volume in the pod template, nil for others, and Pod is about the pod and its image.
	Source *Mount `json:"-"`
	Pod    Where  `json:"-"`
	// SeenAt is when the kubelet last missed the object or the key, if that is so long ago that it may exist by now.
	SeenAt time.Time `json:"seenAt,omitzero"`
}

// TroubleKind is the meaning of a message.
type TroubleKind string

// row is one kind of message.
type row[K ~string] struct {
	kind K
	// patterns recognize messages of this kind. They may have the groups name, namespace, key, object, volume and detail; the
	// group detail is the most specific part of the message. Without patterns, the row is for all messages of its subject that no other row
	// matches.
	patterns []*lazyregexp.Regexp
	// yieldsTo are the kinds of messages that match this row, too.
	yieldsTo []K
	// keepsEnd sets Detail to the end of the message, for kinds that are less specific than the message. complete reports whether
	// the text needs no quotation of it.
	keepsEnd, complete bool
	// whole reports whether the message is never cut, because each part of it may be the reason.
	whole bool
	// ofTemplate reports whether the pod template has to change.
	ofTemplate bool
	// brief is for a column. text is a clause: of an image or a webhook, it follows the name, otherwise it follows "the pod
	// cannot start because". They are templates with the groups as keys, {volume} for the volume of the pod, and the keys of
	// Trouble.fill; advice may have {recreate}, which fits the owner of the Job.
	brief, text, advice string
	// was and wasAdvice replace text and advice for an object that may exist by now.
	was, wasAdvice string
	// note adds to the text of an image, bareNote to that of an image of a pod without imagePullSecrets.
	note, bareNote string
	// command shows the object that refuses a pod; "" for the events of the Job.
	command string
}

// re returns the patterns of a row.
func re(patterns ...string) []*lazyregexp.Regexp {
	out := make([]*lazyregexp.Regexp, len(patterns))
	for i, pattern := range patterns {
		out[i] = lazyregexp.New(pattern)
	}
	return out
}

// subjects are the rows of all files.
var subjects = [][]row[TroubleKind]{images, {unexplained}, volumes, {attaching}, nodeLimits, sandboxes, devices, {notAdmitted}, stops, webhooks}

func rowOf(kind TroubleKind) *row[TroubleKind] {
	for _, rows := range subjects {
		if r := rowIn(rows, kind); r.kind != "" {
			return r
		}
	}
	return &row[TroubleKind]{}
}

// rowIn returns the row of a kind, an empty one if there is none.
func rowIn[K ~string](rows []row[K], kind K) *row[K] {
	if found := lists.First(rows, func(r *row[K]) bool { return r.kind == kind }); found != nil {
		return found
	}
	return &row[K]{}
}

func (r *row[K]) matches(message string) bool {
	return slices.ContainsFunc(r.patterns, func(p *lazyregexp.Regexp) bool { return p.MatchString(message) })
}

func (r *row[K]) yields(other *row[K]) bool { return slices.Contains(r.yieldsTo, other.kind) }

// read sets the fields to the groups of the first of the row's patterns that matches the message.
func (r *row[K]) read(message string, fields map[string]*string) {
	for _, pattern := range r.patterns {
		if readGroups(pattern, message, fields) {
			return
		}
	}
}

// readGroups sets the fields to the groups of the pattern in the message that are not empty. It reports whether the pattern matches.
func readGroups(pattern *lazyregexp.Regexp, message string, fields map[string]*string) bool {
	match := pattern.FindStringSubmatch(message)
	if match == nil {
		return false
	}
	for n, group := range pattern.SubexpNames() {
		if field := fields[group]; field != nil && match[n] != "" {
			*field = match[n]
		}
	}
	return true
}

// first returns the first row that matches, or a row that matches and to which that one yields, possibly over others; nil if
// there is none.
func first[R any](rows []R, matches func(*R) bool, yields func(r, other *R) bool) *R {
	found := lists.First(rows, matches)
	for range rows { // The limit ends a circle.
		if found == nil {
			return nil
		}
		next := lists.First(rows, func(other *R) bool { return yields(found, other) && matches(other) })
		if next == nil {
			return found
		}
		found = next
	}
	return found
}

// find returns the row of a message, nil if there is none.
func find[K ~string](rows []row[K], message string) *row[K] {
	return first(rows, func(r *row[K]) bool { return r.matches(message) }, (*row[K]).yields)
}

// troubleIn returns the trouble that a message reports about a subject; nil if it is unknown.
func troubleIn(rows []row[TroubleKind], message string) *Trouble {
	message = strings.Join(strings.Fields(message), " ")
	found := find(rows, message)
	if found == nil {
		if last := &rows[len(rows)-1]; last.patterns == nil && message != "" {
			return &Trouble{Kind: last.kind, Detail: lastWords(message)}
		}
		return nil
	}
	t := &Trouble{Kind: found.kind}
	found.read(message, map[string]*string{"name": &t.Name, "namespace": &t.Namespace, "key": &t.Key, "volume": &t.Volume, "detail": &t.Detail, "object": &t.Object})
	t.Object = objects[strings.ToLower(t.Object)]
	if t.Detail = strings.TrimRight(t.Detail, " ."); t.Detail == "" && found.keepsEnd {
		t.Detail = lastWords(message)
	}
	return t
}

// Brief returns the trouble in a few words for a column; "" without a trouble.
func (t *Trouble) Brief() string {
	if t == nil {
		return ""
	}
	return t.fill(rowOf(t.Kind).brief, "")
}

// Text returns the trouble as a clause, without the message: after the name of an image or a webhook, and otherwise after "the
// pod cannot start because". volume names the volume with its claim, such as "its volume data (claim data)".
func (t *Trouble) Text(volume string) string {
	r := rowOf(t.Kind)
	return t.fill(t.byTime(r.text, r.was), volume)
}

// Advice returns advice on the trouble; volume is as in Text.
func (t *Trouble) Advice(volume string) string {
	moved := t.Pod.moved()
	switch {
	case t.Kind == NotAdmitted:
		return rejectionAdvice(&Ending{Reason: t.Name}, t.Detail) + retried
	case t.Pod.Lost != "":
		return t.fill(createLost, volume)
	case t.NFS != "" && slices.Contains([]TroubleKind{MountTimeout, Volume, StorageUnreachable}, t.Kind):
		return t.fill(reachNFS, volume)
	case t.Source.sourceAdvice() != "" && slices.Contains([]TroubleKind{MountTimeout, Volume}, t.Kind):
		return t.fill(t.Source.sourceAdvice(), volume)
	case moved != "" && slices.Contains([]TroubleKind{ImageNotFound, RepositoryNotFound, NotOfficial, HubDenied, PublicDenied}, t.Kind):
		return moved
	case t.Pod.Store != "" && t.Kind == ObjectMissing && t.Object == "Secret" && t.Volume == "":
		return t.fill(createByStore, volume)
	}
	r := rowOf(t.Kind)
	if t.Kind == Sandbox && t.Pod.RuntimeClass != "" {
		return t.fill(rowOf(NoRuntime).advice+" (it is {class name}); otherwise "+r.advice, volume)
	}
	return t.fill(t.byTime(r.advice, r.wasAdvice), volume)
}

// retried is the end of advice on what a kubelet tries again. What is in {?} is left out for a Job that has ended.
const retried = "{?; the kubelet retries automatically}"

// byTime returns was if the trouble may be over by now.
func (t *Trouble) byTime(is, was string) string {
	if t.SeenAt.IsZero() {
		return is
	}
	return was
}

// Quote returns the part of the message to quote after Text; "" if Text says everything.
func (t *Trouble) Quote() string {
	if rowOf(t.Kind).complete {
		return ""
	}
	return t.Detail
}

// Note returns what adds to the Text of an image, or "".
func (t *Trouble) Note() string {
	if t == nil {
		return ""
	}
	switch r := rowOf(t.Kind); {
	case t.Pod.Lost != "":
		return t.fill(lostSecret, "")
	case t.NoPullSecrets:
		return t.fill(cmp.Or(r.bareNote, r.note), "")
	default:
		return t.fill(r.note, "")
	}
}

// What adds to the text of an image whose pull secret does not exist, and advice.
const (
	lostSecret = "its pull secret {lost} does not exist"
	createLost = "create Secret {lost} of type kubernetes.io/dockerconfigjson, with credentials for the registry, or correct {secrets}" + retried
)

// reachNFS is advice on an NFS volume of the pod template, which has no CSI driver.
const reachNFS = "check whether {node} reaches NFS server {nfs}: the network (port 2049), the export and the addresses that it allows, and the NFS client of the node (nfs-common or nfs-utils){?; mounting is retried automatically}"

// createByStore is advice on a missing Secret of a pod with a volume of the Secrets Store CSI driver.
const createByStore = "if SecretProviderClass {store} is to create Secret {name}, name it in its secretObjects, and set syncSecret.enabled of the Secrets Store CSI driver, which creates it for pods with the volume; otherwise create it"

// maxDetail is the maximum number of characters of a message within a clause.
const maxDetail = 100

// fill replaces the names in braces in a template.
func (t *Trouble) fill(template, volume string) string {
	if !strings.Contains(template, "{") {
		return template
	}
	// An object has no name if the message names only its key and its volume.
	object := "the " + t.Object + " of its volume " + t.Volume
	switch {
	case t.Name == "":
	case t.Key != "": // The object exists, so its namespace is no question.
		object = t.Object + " " + t.Name
	default:
		object = wording.Join(" in namespace ", t.Object+" "+t.Name, t.Namespace)
	}
	network, service, inService, inBrackets, ofAccount := "the network of its node", "its server", "", "", ""
	if t.Name != "" {
		network, service, inService, inBrackets = "network plugin "+t.Name, "its Service "+t.Name, " (Service "+t.Name+")", " ("+t.Name+")"
	}
	platform := t.Detail
	if m := platformOfImage.FindStringSubmatch(platform); m != nil {
		platform = m[2] + "/" + m[1]
	} else if platform == "" && t.Pod.Architecture != "" {
		platform = "linux/" + t.Pod.Architecture
	}
	orWait := "{?; or wait until that pod ends}"
	if serverPod.MatchString(t.Detail) {
		orWait = ""
	}
	if AccountOfToken(t.Volume) != "" {
		ofAccount = ", the token of its ServiceAccount,"
	}
	return wording.Insert(template, append(t.Pod.words(),
		"{name}", t.Name, "{namespace}", t.Namespace, "{in brackets}", inBrackets, "{key}", t.Key, "{detail}", wording.Shorten(t.Detail, maxDetail), "{(detail)}", wording.InBrackets(t.Detail), "{volume}", volume, "{its name}", t.Volume, "{of account}", ofAccount,
		"{nfs}", t.NFS, "{class}", wording.Join(" ", "SecretProviderClass", t.Class), "{from}", prefixed(" from ", t.Name), "{of class}", prefixed(" in SecretProviderClass ", t.Class), "{object}", object, "{kind and name}", wording.Join(" ", cmp.Or(t.Object, "object"), t.Name), "{of volume}", prefixed(" of ", volume),
		"{or wait}", orWait, "{platform}", cmp.Or(platform, "the platform (operating system and architecture) of the nodes"), "{(platform)}", wording.InBrackets(platform), "{role}", roleOf(t.Name), "{network}", network, "{service}", service, "{in service}", inService)...)
}

// serverPod matches a pod of a StatefulSet, or of a Deployment, with the hash of its ReplicaSet: it does not end by itself.
var serverPod = lazyregexp.New(`-(?:\d{1,3}|[245-9]*[b-df-hj-np-tv-z][b-df-hj-np-tv-z245-9]{5,9}-[b-df-hj-np-tv-z245-9]{5})$`)

// objects maps the kinds of objects in messages.
var objects = map[string]string{
	"configmap": "ConfigMap", "config": "ConfigMap", "secret": "Secret", "persistentvolumeclaim": "claim", "serviceaccount": "ServiceAccount",
	"secretproviderclass": "SecretProviderClass",
}
