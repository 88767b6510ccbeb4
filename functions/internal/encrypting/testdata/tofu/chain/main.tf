terraform {
  encryption {
    key_provider "pbkdf2" "first" {
      passphrase    = "correct horse battery staple"
      iterations    = 200000
      hash_function = "sha256"
      key_length    = 32
      encrypted_metadata_alias = "the-first"
    }
    key_provider "pbkdf2" "second" {
      chain       = key_provider.pbkdf2.first
      iterations  = 200001
      key_length  = 16
      salt_length = 16
    }
    method "aes_gcm" "m" {
      keys = key_provider.pbkdf2.second
      aad  = [1, 2, 255]
    }
    state {
      method = method.aes_gcm.m
    }
    plan {
      method = method.aes_gcm.m
    }
  }
}
resource "terraform_data" "a" {
  input = "hunter2"
}
