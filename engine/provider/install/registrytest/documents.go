package registrytest

import (
	"fmt"
	"strings"
)

type object = map[string]any

// versions returns the registry's list of a provider's versions.
func (s *Server) versions(namespace, typeName string) []byte {
	releases := s.releasesOf(namespace, typeName)
	if len(releases) == 0 {
		return nil
	}
	var versions []object
	for _, r := range releases {
		var platforms []object
		for _, platform := range r.Platforms {
			system, arch, _ := strings.Cut(platform, "_")
			platforms = append(platforms, object{"os": system, "arch": arch})
		}
		versions = append(versions, object{"version": r.Version, "protocols": r.Protocols, "platforms": platforms})
	}
	return encode(s.t, object{"id": namespace + "/" + typeName, "versions": versions, "warnings": s.Warnings})
}

// download returns the registry's description of a package. Its URLs are relative, which the protocol allows.
func (s *Server) download(r *Release, platform string) []byte {
	content, ok := r.zips[platform]
	if !ok {
		return nil
	}
	system, arch, _ := strings.Cut(platform, "_")
	files := fmt.Sprintf("/files/%s/%s/%s/", r.Namespace, r.Type, r.Version)
	return encode(s.t, object{
		"protocols": r.Protocols, "os": system, "arch": arch,
		"filename":              r.zipName(platform),
		"download_url":          files + r.zipName(platform),
		"shasum":                sum(content),
		"shasums_url":           files + r.stem() + "SHA256SUMS",
		"shasums_signature_url": files + r.stem() + "SHA256SUMS.sig",
		"signing_keys": object{"gpg_public_keys": []object{{
			"key_id": s.Signer.ID(), "ascii_armor": s.Signer.Public(), "trust_signature": "", "source": "test", "source_url": nil,
		}}},
	})
}

// mirrorIndex returns the mirror's list of a provider's versions.
func (s *Server) mirrorIndex(namespace, typeName string) []byte {
	releases := s.releasesOf(namespace, typeName)
	if len(releases) == 0 {
		return nil
	}
	versions := object{}
	for _, r := range releases {
		versions[r.Version] = object{}
	}
	return encode(s.t, object{"versions": versions})
}

// mirrorVersion returns the mirror's list of a version's packages.
func (s *Server) mirrorVersion(r *Release) []byte {
	archives := object{}
	for platform, content := range r.zips {
		archives[platform] = object{
			"url":    fmt.Sprintf("/files/%s/%s/%s/%s", r.Namespace, r.Type, r.Version, r.zipName(platform)),
			"hashes": []string{"zh:" + sum(content)},
		}
	}
	return encode(s.t, object{"archives": archives})
}
