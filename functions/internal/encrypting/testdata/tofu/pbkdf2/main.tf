terraform {
  encryption {
    key_provider "pbkdf2" "k" {
      passphrase = var.passphrase
    }
    method "aes_gcm" "m" {
      keys = key_provider.pbkdf2.k
    }
    state {
      method = method.aes_gcm.m
    }
    plan {
      method = method.aes_gcm.m
    }
  }
}
variable "passphrase" {
  default = "correct horse battery staple"
}
resource "terraform_data" "a" {
  input = "hunter2"
}
output "a" {
  value = terraform_data.a.output
}
