package retry

import (
	"math/big"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// OwnLimit is a limit on its memory that a program has by itself, such as -Xmx3g. Variable is the environment variable that
// has it, "" for the command line.
type OwnLimit struct {
	Container, Variable, Text string
}

// ownLimits are the ways to limit the memory of a program by itself. The group is the number with its unit; other is the unit
// of a number without one.
var ownLimits = []struct {
	text  *lazyregexp.Regexp
	other string
}{
	{lazyregexp.New(`-Xmx(\d+[kKmMgGtT]?)\b`), ""},
	{lazyregexp.New(`-XX:MaxHeapSize=(\d+[kKmMgGtT]?)\b`), ""},
	{lazyregexp.New(`--max[-_]old[-_]space[-_]size[= ](\d+)\b`), "m"},
	{lazyregexp.New(`\bGOMEMLIMIT=(\d+(?:[KMGT]iB|B)?)\b`), ""},
}

// OwnLimits returns the limits in the command and the environment of the containers that are not above the memory limit that
// a container had: such a program does not use more.
func OwnLimits(spec *corev1.PodSpec, raised []RaisedMemory) []OwnLimit {
	var all []OwnLimit
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		for _, r := range raised {
			if r.Container != "" && r.Container != c.Name {
				continue
			}
			line := strings.Join(slices.Concat(c.Command, c.Args), " ")
			all = append(all, ownLimitsIn(OwnLimit{Container: c.Name}, line, r.Old)...)
			for _, env := range c.Env {
				text := env.Value
				if env.Name == "GOMEMLIMIT" {
					text = env.Name + "=" + env.Value
				}
				own := OwnLimit{Container: c.Name, Variable: env.Name}
				if own.Text = fixedNumber(&c, &env, raised, r.Old); own.Text != "" {
					all = append(all, own)
					continue
				}
				all = append(all, ownLimitsIn(own, text, r.Old)...)
			}
		}
	}
	return all
}

// isAboutMemory matches names of environment variables.
var isAboutMemory = lazyregexp.New(`(?i)mem|heap`)

// fixedNumber returns the value of an environment variable that is the old limit, in bytes, in mebibytes or as a quantity, and
// stays so; "" for others. The limit of the container itself, from a resourceFieldRef, follows the new one.
func fixedNumber(c *corev1.Container, env *corev1.EnvVar, raised []RaisedMemory, old resource.Quantity) string {
	if from := env.ValueFrom; from != nil && from.ResourceFieldRef != nil {
		of := from.ResourceFieldRef.ContainerName
		isRaised := slices.ContainsFunc(raised, func(r RaisedMemory) bool { return r.Container == "" || r.Container == of })
		if of != "" && of != c.Name && !isRaised && strings.HasSuffix(from.ResourceFieldRef.Resource, ".memory") {
			return from.ResourceFieldRef.Resource + " of container " + of
		}
		return ""
	}
	const mebibyte = 1 << 20
	value, err := resource.ParseQuantity(env.Value)
	isOld := err == nil && old.Sign() > 0 && (value.Cmp(old) == 0 || value.Value() == old.Value()/mebibyte)
	if !isOld || !isAboutMemory.MatchString(env.Name) {
		return ""
	}
	return env.Value
}

func ownLimitsIn(in OwnLimit, text string, old resource.Quantity) (all []OwnLimit) {
	for _, l := range ownLimits {
		for _, match := range l.text.FindAllStringSubmatch(text, -1) {
			if bytesOf(match[1]+l.other).Cmp(big.NewInt(old.Value())) <= 0 {
				all = append(all, OwnLimit{Container: in.Container, Variable: in.Variable, Text: match[0]})
			}
		}
	}
	return all
}

// bytesOf returns the value of digits with a unit of 1,024: k, K, KiB, and so on.
func bytesOf(text string) *big.Int {
	digits := strings.TrimRight(text, "kKmMgGtTiB")
	value, _ := new(big.Int).SetString(digits, 10) // The pattern has digits.
	unit := strings.ToLower(text[len(digits):])
	if unit == "" {
		return value
	}
	return value.Lsh(value, 10*uint(strings.IndexByte("kmgt", unit[0])+1)) // "b" is 0.
}
